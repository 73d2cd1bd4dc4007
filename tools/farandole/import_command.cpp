// farandole import: another program's description of a model becomes a workload file.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.hpp"
#include "config/text_file.hpp"
#include "report/output_file.hpp"
#include "scenario/catalogue.hpp"
#include "workload/importers/keras_summary.hpp"

namespace farandole {
namespace {

struct ImportArguments {
  std::string kind;
  std::string file;
  std::string output;
  std::string name;
  std::string input;
};

struct ImportKind {
  const char* name;
  ImportedModel (*read)(std::string_view text, const std::filesystem::path& file, const Extents& input);
};

constexpr std::array kinds{ImportKind{"keras_summary", read_keras_summary}};

const ImportKind& find_kind(const std::string& name) {
  std::vector<std::string> known;
  for (const ImportKind& kind : kinds) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  refuse_option("import", "a kind of file", name, suggestion(name, known));
}

/// "28x28x1".
Extents parse_input(const std::string& text) {
  Extents shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) shape.push_back(whole_number("--input", part, 1));
  return shape;
}

std::string schema_for(const std::string& output) {
  const auto schema = Catalogue().root() / "sim/config/schemas/model.schema.json";
  return std::filesystem::absolute(schema).lexically_relative(std::filesystem::absolute(output).parent_path()).string();
}

void import_model(const ImportArguments& arguments) {
  const ImportKind& kind = find_kind(arguments.kind);
  ImportedModel model = kind.read(read_text(arguments.file), arguments.file, parse_input(arguments.input));
  if (!arguments.name.empty()) model.name = arguments.name;
  std::ostringstream text;
  write_model(model, schema_for(arguments.output.empty() ? "-" : arguments.output), text);
  const Document document = Document::parse(text.str(), arguments.file);
  const Model read = read_model(document.root(), arguments.output).variants.front();  // what is written can be read
  const auto output = arguments.output.empty() ? std::nullopt : std::optional<std::filesystem::path>(arguments.output);
  write_output(output, std::cout, [&](std::ostream& out) { out << text.str(); });
  std::cerr << fmt::format("{}: {} parameters in {} tensors, {:.0f} multiply-adds, {} layers\n", model.name,
                           read.parameters(), read.tensors(), read.macs(), read.layers.size());
}

}  // namespace

void add_import(CLI::App& app) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "Turn another program's description of a model into a workload file");
  command->add_option("kind", arguments->kind, "keras_summary: what Keras prints as model.summary()")
      ->required()
      ->type_name("KIND");
  command->add_option("file", arguments->file, "what to read")->required()->type_name("FILE");
  command->add_option("--output", arguments->output, "the workload file; else standard output")->type_name("FILE");
  command->add_option("--name", arguments->name, "of the workload, in snake_case; else of the file")->type_name("NAME");
  command->add_option("--input", arguments->input, "shape of one sample, where the file does not say it")
      ->type_name("28x28x1");
  command->footer("Example:\n  farandole import keras_summary summary.txt --input 28x28x1 --output mnist.json");
  command->callback([arguments] { import_model(*arguments); });
}

}  // namespace farandole
