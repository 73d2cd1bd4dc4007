// A Hugging Face `config.json` as a model: shapes from the configuration alone, no weights and no PyTorch.
//
// Read wherever a model's file may be named. Decoders (Llama, Mistral, Mixtral, Qwen, Gemma, Phi-3, OLMo 2, DeepSeek
// and what is built like them; GPT-2, GPT-NeoX), BERT's encoder with its head for masked words, and ViT with its
// classes. Tensors and their shapes are those of transformers' modeling_*.py of that `model_type`; attention is fused,
// and causal in decoders. Sequences are of 4,096 tokens, or of as many as the model has positions for; a scenario's
// "sequence_length" says another. Sliding windows, dropout, rope scaling and the prediction of several tokens
// (num_nextn_predict_layers) are not in it; neither is how weights are stored.
#pragma once

#include "config/document.hpp"

namespace farandole { inline namespace workload {

/// Whether it is such a configuration, of a type that is known or not.
bool is_huggingface_config(const Document& document);

/// The document that models/*.json would have of it. InputError for a type that is not known, naming those that are.
Document model_of_huggingface_config(const Document& config);

}}  // namespace farandole::workload
