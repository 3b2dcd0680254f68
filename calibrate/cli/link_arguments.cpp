#include "calibrate/cli/link_arguments.hpp"

#include <array>
#include <string>

#include <CLI/CLI.hpp>

#include "calibrate/live/emulated_links.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/description/units.hpp"

namespace paceline::calibrate {
namespace {

CLI::Option* add_amount(CLI::App& app, const std::string& name, std::optional<double>& amount,
                        Dimension dimension, const std::string& help) {
  const auto read = [&amount, dimension, name](const std::string& text) {
    const Parsed<Amount> parsed = parse_amount(text, std::array{dimension});
    if (const auto* mistake = std::get_if<Mistake>(&parsed))
      throw CLI::ValidationError(name, mistake->message + " (" + mistake->hint + ")");
    amount = std::get<Amount>(parsed).value;
    if (*amount <= 0.0) throw CLI::ValidationError(name, "must be above 0");
  };
  return app.add_option_function<std::string>(name, read, help)
      ->type_name(std::string(units_of(dimension).example));
}

}  // namespace

void declare(CLI::App& app, LinkArguments& arguments) {
  CLI::Option* const bandwidth = add_amount(
      app, "--bandwidth", arguments.bandwidth_bytes_per_s, Dimension::rate,
      "Over a link of this rate for each process, both ways, emulated here (as root): packets cost "
      "processor time that loopback does not (default: loopback)");
  add_amount(app, "--burst", arguments.burst_bytes, Dimension::size,
             "What such a link carries at once after a rest (default: two packets, or 0.25 ms)")
      ->needs(bandwidth);
}

std::optional<NetworkConfig> links_of(const LinkArguments& arguments) {
  if (!arguments.bandwidth_bytes_per_s) return std::nullopt;
  if (const std::string reason = live::why_no_emulated_links(); !reason.empty())
    throw UserError("--bandwidth: " + reason, "run as root, with iproute2 installed, or leave it out");
  NetworkConfig network;
  network.bandwidth = network.server_bandwidth = BytesPerSecond{*arguments.bandwidth_bytes_per_s};
  network.model.burst = Bytes{arguments.burst_bytes.value_or(0.0)};
  return network;
}

}  // namespace paceline::calibrate
