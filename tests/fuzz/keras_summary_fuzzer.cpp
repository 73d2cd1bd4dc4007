// libFuzzer target: a summary of Keras is a model that can be written and read, or refused.
#include <sstream>

#include "config/document.hpp"
#include "fuzz/fuzz.hpp"
#include "workload/importers/imported_model.hpp"

namespace {

using namespace farandole;

/// As `farandole import keras_summary` does.
void import_summary(const std::string& text, const Extents& input) {
  const ImportedModel model = read_keras_summary(text, "fuzz.txt", input);
  fuzz::require(!model.layers.empty(), "a model has layers");
  std::ostringstream file;
  write_model(model, "model.schema.json", file);
  const Document document = Document::parse(file.str(), "fuzz.txt");
  const ModelSummary summary = read_model(document.root(), "fuzz.json");
  fuzz::require(summary.variants.at(0).layers.size() == model.layers.size(), "every layer is in the file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  const bool says_input = text.find("InputLayer") != std::string::npos;
  fuzz::use_or_refuse([&] { import_summary(text, says_input ? Extents{} : Extents{28, 28, 1}); });
  return 0;
}
