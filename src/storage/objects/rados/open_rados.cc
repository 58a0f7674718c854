#include "storage/objects/rados/open_rados.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace sibyl::storage::objects {
namespace {

constexpr const char* plugin_name = "libsibyl-rados.so";

std::vector<std::string> places(const RadosOptions& options) {
  if (!options.plugin.empty()) return {options.plugin};
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {(program / plugin_name).string(), (program / "../lib/sibyl" / plugin_name).string()};
}

}  // namespace

// The library stays loaded, because librados' threads may run until the process ends.
base::Result<std::unique_ptr<ObjectStore>> open_rados(const RadosOptions& options) {
  std::string problem = "it was not found";
  for (const std::string& path : places(options)) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = ::dlerror();
      continue;
    }
    void* const symbol = ::dlsym(library, open_rados_symbol);
    if (symbol == nullptr) {
      problem = path + " belongs to another version of sibyl";
      continue;
    }
    base::Result<std::unique_ptr<ObjectStore>> store;
    reinterpret_cast<OpenRados*>(symbol)(options, store);
    return store;
  }
  return base::fail(
      base::Error(base::ErrorCode::config, std::string("Cannot load ") + plugin_name + ": " + problem)
          .with_hint("install the package sibyl-rados, of the same version as sibyl"));
}

}  // namespace sibyl::storage::objects
