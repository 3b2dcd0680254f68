#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/cli/options.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {
namespace {

// Ascending, each once.
void sort_numbers(const std::string& option, auto& numbers) {
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) != numbers.end())
    throw UserError(fmt::format("{}: a number appears twice", option), "name each once");
}

// As a shell would have it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]#~!{}") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

template <class OfCommand>
std::optional<Arguments> parse(const std::string& name, const std::vector<std::string>& words) {
  OfCommand arguments;
  CLI::App app("", name);
  declare(app, arguments);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them reversed
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), fmt::format("`{} --help` lists the options", name));
  }
  return arguments;
}

// Everything after `--` is the command.
template <class OfCommand>
std::optional<Arguments> parse_with_command(const std::string& name, const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  if (end != words.end() && end + 1 == words.end())
    throw UserError("there is no command after `--`", "a training loop: python3 train.py, say");
  std::optional<Arguments> parsed = parse<OfCommand>(name, {words.begin(), end});
  if (parsed && end != words.end()) std::get<OfCommand>(*parsed).command.assign(end + 1, words.end());
  return parsed;
}

template <class OfMessages>
std::optional<Arguments> parse_with_sizes(const std::string& name, const std::vector<std::string>& words) {
  std::optional<Arguments> parsed = parse_with_command<OfMessages>(name, words);
  if (!parsed) return parsed;
  auto& arguments = std::get<OfMessages>(*parsed);
  sort_numbers("--parameters", arguments.parameters);
  if constexpr (requires { arguments.members; })
    sort_numbers("--members", arguments.members);
  else
    sort_numbers("--workers", arguments.workers);
  return parsed;
}

// Logs of asynchronous jobs have options of their own.
std::optional<Arguments> parse_from_log(const std::string& name, const std::vector<std::string>& words) {
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  if (!has("--jobs")) return parse<FromLogArguments>(name, words);
  // As the first word after --jobs it would be a file.
  return parse<JobLogArguments>(name, has("--help") ? std::vector<std::string>{"--help"} : words);
}

using Parser = std::optional<Arguments> (*)(const std::string& name, const std::vector<std::string>& words);

}  // namespace

std::optional<Arguments> parse_command_line(std::vector<std::string> words) {
  const std::map<std::string, Parser> commands = {{"show", parse<ShowArguments>},
                                                  {"check", parse<CheckArguments>},
                                                  {"network", parse<NetworkArguments>},
                                                  {"server", parse_with_sizes<ServerArguments>},
                                                  {"collective", parse_with_sizes<CollectiveArguments>},
                                                  {"own", parse_with_command<OwnArguments>},
                                                  {"from-log", parse_from_log}};
  const std::string program = "paceline calibrate";
  if (words == std::vector<std::string>{"networks"}) {  // for `paceline list networks`
    fmt::print("{}", networks(""));
    return std::nullopt;
  }
  if (!words.empty())
    if (const auto command = commands.find(words.front()); command != commands.end()) {
      words.erase(words.begin());
      return command->second(program + " " + command->first, words);
    }
  std::optional<Arguments> parsed = parse<CalibrateArguments>(program, words);
  if (!parsed) return parsed;
  auto& arguments = std::get<CalibrateArguments>(*parsed);
  sort_numbers("--batches", arguments.batches);
  sort_numbers("--cores", arguments.cores);
  arguments.command = program;
  for (const std::string& word : words) arguments.command += " " + quoted(word);
  return parsed;
}

}  // namespace paceline::calibrate
