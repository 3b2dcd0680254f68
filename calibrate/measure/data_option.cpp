#include "calibrate/measure/data_option.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

DataChoice parse_data_option(const std::string& text) {
  const std::size_t colon = text.find(':');
  DataChoice data{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const bool built_in = data.kind == "built-in-images";
  if (!built_in && data.kind != "cifar10" && data.kind != "cifar100" && data.kind != "mnist")
    throw UserError(fmt::format("--data: there is no data set `{}`", data.kind),
                    fmt::format("write {}", data_kinds_text));
  if (built_in && !data.path.empty())
    throw UserError("--data: built-in-images are generated and have no folder",
                    "write --data built-in-images");
  std::error_code ignored;
  if (!built_in && !std::filesystem::is_directory(data.path, ignored))
    throw UserError(fmt::format("--data: there is no folder `{}`", data.path),
                    fmt::format("write --data {}:FOLDER with the folder of its files", data.kind));
  return data;
}

}  // namespace paceline::calibrate
