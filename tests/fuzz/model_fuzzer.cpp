// libFuzzer target: a file of models/, or a Hugging Face configuration, is a model whose layers sum to its totals, or
// refused.
#include "fuzz/fuzz.hpp"
#include "workload/model.hpp"

namespace {

using namespace farandole;

void require_sound(const Model& model) {
  fuzz::require(!model.layers.empty() && model.parameters() >= 0 && model.macs() >= 0, "a model has layers and totals");
  for (const Layer& layer : model.layers) {
    fuzz::require(layer.macs >= 0 && layer.input_elements >= 0 && layer.output_elements >= 0,
                  "counts are not negative");
    for (const Tensor& tensor : layer.tensors) fuzz::require(tensor.elements() >= 1, "a tensor has elements");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    Document document = Document::parse(text, "fuzz.json");
    if (is_huggingface_config(document)) document = model_of_huggingface_config(document);
    const ModelSummary model = read_model(document.root(), "fuzz.json");
    for (const Model& variant : model.variants) require_sound(variant);
  });
  return 0;
}
