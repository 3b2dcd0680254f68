#include "sim/cli/usage_mistake.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace paceline {
namespace {

// The command whose arguments were read last, and how a user writes it.
struct GivenCommand {
  const CLI::App* app;
  std::string name;
};

GivenCommand innermost(const CLI::App& app) {
  GivenCommand command{&app, app.get_name()};
  while (!command.app->get_subcommands().empty()) {
    command.app = command.app->get_subcommands().back();
    command.name += " " + command.app->get_name();
  }
  return command;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool looks_like_an_option(const std::string& word) {
  return word.size() > 1 && word.starts_with('-');
}

// `--replications 5` for a key of the file: "--set replications=5".
std::optional<std::string> as_setting(const GivenCommand& command, const std::string& option,
                                      const std::vector<std::string>& left) {
  const std::size_t equals = option.find('=');
  const std::string key = option.substr(0, equals).substr(std::min<std::size_t>(2, option.size()));
  const bool is_key = key == "replications" || key == "seed" || key.find('.') != key.npos;
  if (!is_key || std::ranges::count(options_of(*command.app), "--set") == 0) return std::nullopt;
  const auto next = std::ranges::find(left, option) + 1;
  const std::string value = equals != option.npos ? option.substr(equals + 1)
                            : next < left.end()   ? *next
                                                  : "…";
  return fmt::format("--set {}={}", key, value);
}

UserError unknown_option(const GivenCommand& command, const std::string& word,
                         const std::vector<std::string>& left) {
  std::optional<std::string> meant = as_setting(command, word, left);
  if (!meant) meant = closest(word.substr(0, word.find('=')), options_of(*command.app));
  return {fmt::format("{}: there is no option `{}`", command.name, word),
          meant ? fmt::format("did you mean `{}`?", *meant)
                : fmt::format("{} --help lists the options", command.name)};
}

UserError missing_command(const GivenCommand& command, const std::vector<std::string>& left) {
  const std::string hint = fmt::format("{} --help lists the commands", command.name);
  if (left.empty()) return {fmt::format("{}: a command is missing", command.name), hint};
  std::vector<std::string> names;
  for (const CLI::App* known : command.app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(known->get_name());
  const std::optional<std::string> meant = closest(left.front(), names);
  return {fmt::format("{}: there is no command `{}`", command.name, left.front()),
          meant ? fmt::format("did you mean `{}`?", *meant) : hint};
}

// "--epochs: `x` is not a number from 0.001 to 1e+06", of what CLI11 says with six digits behind the point.
std::string in_words(const std::string& said) {
  static const std::regex out_of_range(R"((.*: )Value (.*) not in range (\S+) to (\S+))");
  std::smatch found;
  if (!std::regex_match(said, found, out_of_range)) return said;
  return fmt::format("{}`{}` is not a number from {:g} to {:g}", found[1].str(), found[2].str(),
                     std::stod(found[3]), std::stod(found[4]));
}

}  // namespace

UserError usage_mistake(const CLI::App& app, const CLI::ParseError& error) {
  const GivenCommand command = innermost(app);
  const std::vector<std::string> left = app.remaining(true);
  const bool lacks_command = command.app->get_require_subcommand_min() > 0;
  if (lacks_command && (left.empty() || !looks_like_an_option(left.front())))
    return missing_command(command, left);
  const auto unknown = std::ranges::find_if(left, looks_like_an_option);
  if (unknown != left.end()) return unknown_option(command, *unknown, left);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty())
    return {fmt::format("{}: `{}` is one argument too many", command.name, left.front()),
            fmt::format("{} --help", command.name)};
  return {fmt::format("{}: {}", command.name, in_words(error.what())),
          fmt::format("{} --help", command.name)};
}

}  // namespace paceline
