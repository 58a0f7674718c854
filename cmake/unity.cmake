# Unity builds: a clean build parses the project's headers once per folder instead of once per file.
#
# `./dev` turns this on for build directories that it creates. Turn it off with -DSIBYL_UNITY=OFF where single files are
# edited and rebuilt often.
option(SIBYL_UNITY "Compile the files of a folder together" OFF)

# Large folders are split so that both cores have something to do, and an edit rebuilds only a part of the folder.
set(unity_max_files 12)

# sibyl_unity(TARGET): call it after the target is added. Files of different folders are never compiled together.
# tests/tree/check_tree.py reports names that collide within a folder.
function(sibyl_unity target)
  if(SIBYL_UNITY)
    # All sources and their properties are known at the end of the directory.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL sibyl_unity_now ${target})")
  endif()
endfunction()

# CMake's own unity files include by absolute paths, which end up in __FILE__, so that ccache could not share results
# between checkouts. These include by paths from the root of the project.
function(sibyl_unity_now target)
  get_target_property(sources ${target} SOURCES)
  set(alone)
  set(groups)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
    string(FIND "${path}" "${PROJECT_BINARY_DIR}/" generated)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(skip ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(options OR definitions OR skip OR generated EQUAL 0 OR NOT name MATCHES "\\.cc$")
      list(APPEND alone ${source})
      continue()
    endif()
    get_filename_component(folder ${name} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} group)
    math(EXPR files_${group} "${files_${group}} + 0")
    math(EXPR part "${files_${group}} / ${unity_max_files}")
    math(EXPR files_${group} "${files_${group}} + 1")
    if(NOT DEFINED text_${group}_${part})
      list(APPEND groups ${group}_${part})
    endif()
    string(APPEND text_${group}_${part} "#include \"${name}\"\n")
  endforeach()
  foreach(group IN LISTS groups)
    set(file ${PROJECT_BINARY_DIR}/unity/${target}/${group}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}" @ONLY)
    set_source_files_properties(${file} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
    list(APPEND alone ${file})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${alone}")
  # g++ takes the files for headers, and warns about classes with members whose types are in anonymous namespaces.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
