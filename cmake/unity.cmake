# Unity builds: a clean build parses the project's headers once per folder instead of once per file.
#
# `./dev` turns this on for build directories that it creates. Turn it off with -DSIBYL_UNITY=OFF where single files are
# edited and rebuilt often.
option(SIBYL_UNITY "Compile the files of a folder together" OFF)

# Large folders are split so that both cores have something to do, and an edit rebuilds only a part of the folder.
set(unity_max_files 12)

# sibyl_unity(TARGET): call it after the target has all of its sources. Files of different folders are never compiled
# together. tests/tree/check_tree.py reports names that collide within a folder.
function(sibyl_unity target)
  if(NOT SIBYL_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    file(RELATIVE_PATH group ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${group} group)
    math(EXPR files_${group} "${files_${group}} + 0")
    math(EXPR part "${files_${group}} / ${unity_max_files}")
    math(EXPR files_${group} "${files_${group}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes the files for headers, and warns about classes with members whose types are in anonymous namespaces.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
