// help and completion: what the command line says about itself, from its own description.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/options.hpp"

namespace paceline {
namespace {

constexpr const char* completion_examples = R"(Examples:
  source <(paceline completion)                                          in this shell
  paceline completion > ~/.local/share/bash-completion/completions/paceline)";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

// Words that are neither options nor commands of their own.
std::vector<std::string> values_after(const CLI::App& app, const std::string& command) {
  if (command == "help") return command_names(app);
  if (command == "list") return listed_things();
  if (command == "calibrate") return {"show", "check", "from-log", "network", "server", "collective", "own"};
  return {};
}

struct Branches {
  std::string words;    // of bash: which command the words before the cursor name
  std::string choices;  // and what may follow it
};

void add_branches(const CLI::App& root, const CLI::App& app, const std::string& command, Branches& branches) {
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  std::vector<std::string> words = command_names(app);
  for (const std::string& value : values_after(root, command)) words.push_back(value);
  branches.choices += fmt::format("    '{}') commands='{}' options='{}' ;;\n", command, fmt::join(words, " "),
                                  fmt::join(options, " "));
  for (const CLI::App* sub : commands_of(app)) {
    const std::string name = command.empty() ? sub->get_name() : command + " " + sub->get_name();
    branches.words += fmt::format("      '{} {}') command='{}' ;;\n", command, sub->get_name(), name);
    add_branches(root, *sub, name, branches);
  }
}

// Of the command these words name.
std::string help_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    const std::vector<std::string> known = command_names(*at);
    if (std::ranges::find(known, word) == known.end()) {
      const std::optional<std::string> meant = closest(word, known);
      throw UserError(fmt::format("{}: there is no command `{}`", name, word),
                      meant ? fmt::format("did you mean `{}`?", *meant)
                            : fmt::format("{} --help lists the commands", name));
    }
    at = at->get_subcommand(word);
    name += " " + word;
  }
  return at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal);
}

// A script for bash that completes commands and options, and files where neither is meant.
std::string bash_completion(const CLI::App& app) {
  Branches branches;
  add_branches(app, app, "", branches);
  return fmt::format(R"(# Completion of {0} for bash, written by `{0} completion`.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command= commands= options= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
{1}    esac
  done
  case "$command" in
{2}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}}
complete -o default -F _{0} {0}
)",
                     app.get_name(), branches.words, branches.choices);
}

}  // namespace

void add_completion(CLI::App& app, CommandAction& action) {
  CLI::App& completion = *app.add_subcommand("completion", "print the completion script for bash");
  completion.footer(completion_examples);
  completion.callback([&] {
    action = [&] {
      fmt::print("{}", bash_completion(app));
      return exit_done;
    };
  });
}

void add_help(CLI::App& app, CommandAction& action) {
  CLI::App& help = *app.add_subcommand("help", "what a command does, with examples");
  help.footer("Examples:\n  paceline help run\n  paceline help validate recorded");
  const auto topic = std::make_shared<std::vector<std::string>>();
  help.add_option("COMMAND", *topic, "a command, and one of its own if it has any");
  help.callback([&app, &action, topic] {
    action = [&app, topic] {
      if (!topic->empty() && topic->front() == "calibrate")
        exec_calibrate(topic->size() > 1 ? std::vector<std::string>{(*topic)[1], "--help"}
                                         : std::vector<std::string>{"--help"});
      fmt::print("{}", help_of(app, *topic));
      return exit_done;
    };
  });
}

}  // namespace paceline
