// A model to train: its layers in execution order, and of each the parameters, work and data moved per sample.
//
// What a file in models/ describes. Counts are per sample and forward only; nothing here knows a device or a batch.
// Where a sample is a sequence, a file says which extents are its length and how work grows with it, so that a model
// can be built for any length.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/document.hpp"

namespace farandole { inline namespace workload {

/// Values of a tensor of a model.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 40U;

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool trainable = true;
  [[nodiscard]] std::int64_t elements() const;
};

struct Layer {
  std::string name;
  std::string type;             // "conv2d", "linear", "batch_norm2d", "relu", ...
  std::vector<Tensor> tensors;  // parameters, in the order the framework lists them
  double macs = 0;              // multiply-adds of one forward pass
  double input_elements = 0;
  double output_elements = 0;
  std::vector<std::int64_t> input_shape{};   // channels first; empty where the source does not say
  std::vector<std::int64_t> output_shape{};  // the same
  std::string block{};                       // the part of the network that it is one of, "layers.3"; empty: of none
  // Of a model that several ranks compute together: what of its input each of them needs whole, and what of its output
  // is a sum over them. Elements, per sample.
  double gathers = 0;
  double sums = 0;
  // Of a layer of experts, of which every token goes to some: what of a sample is sent to them, counted as often as it
  // goes, and comes back from them.
  int experts = 0;  // whose weights are one behind the other in the first extent; 0: none
  double dispatched = 0;
  double combined = 0;
  bool frozen = false;  // a product whose weights, its own or another's, are not trained
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t trainable_parameters() const;
};

struct Model {
  std::string name;
  std::string variant;
  std::vector<Layer> layers;
  int sequence_length = 0;   // tokens of a sample; 0: a sample is no sequence
  int longest_sequence = 0;  // that it has positions for; 0: any
  bool hands_back = false;   // a stage behind others that train something: they need the gradient of its input

  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t trainable_parameters() const;
  [[nodiscard]] int tensors() const;
  [[nodiscard]] int trainable_tensors() const;
  [[nodiscard]] double macs() const;
  [[nodiscard]] bool is_trained_whole() const { return trainable_tensors() == tensors(); }
  /// The layers before it have no backward pass, as nothing in or before them is trained. 0 where nothing is frozen.
  [[nodiscard]] std::size_t first_backward() const;
  /// The first layer of the block that it is in, which is kept, and run again, whole.
  [[nodiscard]] std::size_t first_block_backward() const;
};

/// What one of `ranks` ranks has of a transformer that they compute together, layer by layer, as Megatron-LM splits it.
///
/// Of each branch of a block, from one residual sum to the next, the first products are split by their outputs, the
/// last one by its inputs, and what lies between by heads or columns; embedding and head by words, filled up to a
/// multiple. What lies between branches every rank has whole, or with `sequence_parallel` for its part of the tokens
/// (Shoeybi et al., arXiv:1909.08053; Korthikanti et al., arXiv:2205.05198). Work that is not split takes whole
/// weights.
struct SplitModel {
  Model model;
  std::string refusal;  // what would be expected instead; empty: it can be split
};
SplitModel split_model(const Model& model, int ranks, bool sequence_parallel);

/// What one of `ranks` ranks has of a model whose layers of experts they share: the same part of every layer's experts,
/// to which the tokens of all of them go. `imbalance`: how many come to the fullest rank, to the mean.
SplitModel share_experts(const Model& model, int ranks, double imbalance);

/// What the stages of a pipeline have of a model whose blocks follow one another: of these `blocks[s]` each, what comes
/// before the first block the first of them, what comes after the last the last.
struct StagedModel {
  std::vector<Model> stages;
  std::vector<double> handed_on;  // from each stage to the next: elements, per sample
  double tied = 0;      // elements of what the first and the last both keep: an embedding that is the head, too
  std::string refusal;  // what would be expected instead; empty: it can be cut
};
/// `blocks` may be empty: as many in each of `stages`.
StagedModel stage_model(const Model& model, int stages, const std::vector<int>& blocks);

/// What `show models` lists without choosing a variant.
struct ModelSummary {
  std::string name;
  std::string summary;
  std::filesystem::path file;
  std::vector<Model> variants;  // the first is the default
};

/// Reads every variant of a model file; `where` is the document's root. A variant states its totals; one whose layers
/// do not sum to them is refused, so a slip in a long list cannot pass.
ModelSummary read_model(const Value& where, const std::filesystem::path& file);

/// The variant of that name where a sample is a sequence of `length` tokens; it is called "seq512" where the file's is
/// called by its length, else by its name and that. `where` is the root of a document that read_model accepts, and the
/// variant has a sequence.
Model read_model_at(const Value& where, const std::string& variant, int length);

// A Hugging Face `config.json` as a model: shapes from the configuration alone, no weights and no PyTorch.
//
// Read wherever a model's file may be named. Decoders (Llama, Mistral, Mixtral, Qwen, Gemma, Phi-3, OLMo 2, DeepSeek
// and what is built like them; GPT-2, GPT-NeoX), BERT's encoder with its head for masked words, and ViT with its
// classes. Tensors and their shapes are those of transformers' modeling_*.py of that `model_type`; attention is fused,
// and causal in decoders. Sequences are of 4,096 tokens, or of as many as the model has positions for; a scenario's
// "sequence_length" says another. Sliding windows, dropout, rope scaling and the prediction of several tokens
// (num_nextn_predict_layers) are not in it; neither is how weights are stored.

/// Whether it is such a configuration, of a type that is known or not.
bool is_huggingface_config(const Document& document);

/// The document that models/*.json would have of it. InputError for a type that is not known, naming those that are.
Document model_of_huggingface_config(const Document& config);

}}  // namespace farandole::workload
