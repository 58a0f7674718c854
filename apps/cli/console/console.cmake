# The console's page. console/build.mjs compiles it with esbuild, compresses it and writes it as C++.
#
# Without npm, or when its registry cannot be reached, the server is built without the page.
set(console_folder ${PROJECT_SOURCE_DIR}/console)
set(console_assets ${PROJECT_BINARY_DIR}/console/assets.cc)
file(GLOB_RECURSE console_page CONFIGURE_DEPENDS ${console_folder}/src/*)
add_custom_command(OUTPUT ${console_assets}
  COMMAND ${console_folder}/build.sh ${PROJECT_BINARY_DIR}/console
  DEPENDS ${console_page} ${console_folder}/build.sh ${console_folder}/build.mjs ${console_folder}/package-lock.json
  COMMENT "Building the page of the console" VERBATIM)
# A library of its own, so that no other file waits for npm.
add_library(sibyl_console_page STATIC ${console_assets})
target_include_directories(sibyl_console_page PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sibyl_commands PUBLIC sibyl_console_page)
