#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "workload/model.hpp"

namespace farandole { inline namespace workload {
namespace {

using Json = nlohmann::ordered_json;
using Size = std::int64_t;

constexpr Size default_length = 4096;
constexpr int largest_size = 1 << 20;  // of any model that there is; products of two fit an integer

/// What is no whole number below 2^53 the reader of models refuses.
Json count(double value) {
  return value < 9007199254740992.0 ? Json(static_cast<Size>(value)) : Json(value);
}

/// What a configuration says; of keys that are null or not there, what the class in transformers has.
class Config {
 public:
  explicit Config(const Value& where) : section_(where) {}

  Size size(std::string_view key) { return read_between(section_.child(key), 1, largest_size); }
  Size size(std::string_view key, Size otherwise) { return has(key) ? size(key) : otherwise; }
  /// What divides `whole`.
  Size divisor(std::string_view key, Size whole) {
    const Size parts = size(key);
    if (whole % parts != 0) section_.child(key).fail(fmt::format("a divisor of {}", whole));
    return parts;
  }
  bool flag(std::string_view key, bool otherwise) { return has(key) ? section_.required<bool>(key) : otherwise; }
  bool has(std::string_view key) {
    const auto value = section_.maybe(key);
    return value && !std::holds_alternative<std::nullptr_t>(value->node().value);
  }
  Value at(std::string_view key) { return section_.child(key); }
  /// Refuses what would lay another model: `expected` says what is known here.
  void refuse_other_than(std::string_view key, Size known, std::string_view expected) {
    if (size(key, known) != known) at(key).fail(expected);
  }

 private:
  Section section_;
};

/// The layers of a model in the words of models/*.json, for samples of so many rows ("sequence", or a number).
class Layers {
 public:
  explicit Layers(Json rows) : rows_(std::move(rows)) {}

  void add(const std::string& name, const char* type, const Json& input, const Json& output, const Json& tensors = {},
           const Json& macs = {}) {
    Json layer{{"name", name}, {"type", type}};
    if (!macs.is_null()) layer["macs"] = macs;
    layer["input"] = input;
    layer["output"] = output;
    if (!tensors.is_null()) layer["tensors"] = tensors;
    list_.push_back(layer);
  }
  void each(const std::string& name, const char* type, Size width) { add(name, type, {rows_, width}, {rows_, width}); }
  void embedding(const std::string& name, Size words, Size width) {
    add(name, "embedding", Json::array({rows_}), {rows_, width}, tensors(name, {words, width}, 0));
  }
  void norm(const std::string& name, Size width, bool is_layer_norm) {
    const char* type = is_layer_norm ? "layer_norm" : "rms_norm";
    add(name, type, {rows_, width}, {rows_, width}, tensors(name, Json::array({width}), is_layer_norm ? width : 0));
  }
  /// Of each head by itself, all with the same weights.
  void head_norm(const std::string& name, Size heads, Size width) {
    add(name, "rms_norm", {heads, rows_, width}, {heads, rows_, width}, tensors(name, Json::array({width}), 0));
  }
  void linear(const std::string& name, Size from, Size to, bool bias = false) {
    add(name, "linear", {rows_, from}, {rows_, to}, tensors(name, {to, from}, bias ? to : 0),
        per_row(double(from) * double(to)));
  }
  void rotary(const std::string& name, Size heads, Size width) {
    add(name, "rotary", {heads, rows_, width}, {heads, rows_, width});
  }
  /// Scores over `width` values of a head and sums over `value_width`; of causal ones half is computed.
  void attention(const std::string& name, Size heads, Size key_heads, Size width, Size value_width, bool causal) {
    const double macs = double(heads) * double(width + value_width) / (causal ? 2 : 1);
    const Json all =
        rows_.is_string() ? Json{{"sequence^2", count(macs)}} : count(macs * rows_.get<double>() * rows_.get<double>());
    add(name, "attention", {heads + 2 * key_heads, rows_, width}, {heads, rows_, value_width}, {}, all);
  }
  /// What scores words, with the weights of the embedding or its own, and the loss.
  void head(const std::string& name, Size hidden, Size words, bool is_tied, bool bias = false) {
    linear(name, hidden, words, bias);
    if (is_tied) list_.back().erase("tensors");
    if (is_tied && bias) list_.back()["tensors"] = Json::array({{{"name", name + ".bias"}, {"shape", {words}}}});
    each("loss.softmax", "cross_entropy", words);
  }
  void block(const std::string& name, Size first, Size times, const std::function<void(Layers&)>& fill) {
    if (times == 0) return;
    Layers inside(rows_);
    fill(inside);
    Json all{{"block", name}, {"times", times}};
    if (first > 0) all["first"] = first;
    all["layers"] = inside.list_;
    list_.push_back(all);
  }
  /// The last layer is one of experts; with `key`, so many elements of a row go to them or come back.
  void of_experts(Size experts, const std::string& key, Size elements) {
    list_.back()["experts"] = experts;
    if (!key.empty()) list_.back()[key] = per_row(double(elements));
  }
  [[nodiscard]] Json per_row(double macs) const {
    return rows_.is_string() ? Json{{"sequence", count(macs)}} : count(macs * rows_.get<double>());
  }
  [[nodiscard]] const Json& list() const { return list_; }
  [[nodiscard]] const Json& rows() const { return rows_; }

  static Json tensors(const std::string& name, const Json& weight, Size bias) {
    Json all = Json::array({{{"name", name + ".weight"}, {"shape", weight}}});
    if (bias > 0) all.push_back({{"name", name + ".bias"}, {"shape", {bias}}});
    return all;
  }

 private:
  Json rows_;
  Json list_ = Json::array();
};

const char* activation(Config& config, const char* key, const char* otherwise) {
  const std::string name = config.has(key) ? read<std::string>(config.at(key)) : otherwise;
  for (const char* known : {"gelu", "silu", "relu"}) {
    if (name.find(known) != std::string::npos) return known;
  }
  config.at(key).fail("an activation of gelu, silu, relu");
}

/// How decoders with gated feed-forwards and rotary positions differ, as far as their configurations do not say it.
struct Family {
  const char* type;
  bool tied = false;        // where "tie_word_embeddings" is not there
  bool bias = false;        // of queries, keys and values alone
  bool before = true;       // a norm before attention and feed-forward
  bool after = false;       // a norm behind them
  bool head_norms = false;  // of queries and keys, head by head
  bool wide_norms = false;  // of queries and keys, all heads together
  bool fused = false;       // one product for queries, keys and values, one for gate and up
};
constexpr std::array families{
    Family{.type = "llama"},
    Family{.type = "mistral"},
    Family{.type = "mixtral"},
    Family{.type = "qwen2", .bias = true},
    Family{.type = "qwen2_moe", .bias = true},
    Family{.type = "qwen3", .head_norms = true},
    Family{.type = "qwen3_moe", .head_norms = true},
    Family{.type = "gemma", .tied = true},
    Family{.type = "gemma2", .tied = true, .after = true},
    Family{.type = "gemma3_text", .tied = true, .after = true, .head_norms = true},
    Family{.type = "phi3", .fused = true},
    Family{.type = "olmo2", .before = false, .after = true, .wide_norms = true},
    Family{.type = "granite"},
    Family{.type = "smollm3", .tied = true},
    Family{.type = "deepseek_v2"},
    Family{.type = "deepseek_v3"},
};

class Decoder {
 public:
  Decoder(Config config, const Family& family) : config_(std::move(config)), family_(family) {}

  Json layers() {
    Layers all("sequence");
    const Size words = config_.size("vocab_size");
    all.embedding("model.embed_tokens", words, hidden_);
    const Size blocks = config_.size("num_hidden_layers");
    const Size dense = experts_ == 0 ? blocks : std::min(blocks, config_.size("first_k_dense_replace", 0));
    all.block("model.layers.{}", 0, dense, [&](Layers& to) { block(to, false); });
    all.block("model.layers.{}", dense, blocks - dense, [&](Layers& to) { block(to, true); });
    all.norm("model.norm", hidden_, false);
    all.head("lm_head", hidden_, words, config_.flag("tie_word_embeddings", family_.tied));
    return all.list();
  }

 private:
  void block(Layers& to, bool with_experts) {
    if (family_.before) to.norm("input_layernorm", hidden_, false);
    config_.has("kv_lora_rank") ? latent_attention(to) : attention(to);
    if (family_.after) to.norm("post_attention_layernorm", hidden_, false);
    to.each("add_1", "add", hidden_);
    if (family_.before)
      to.norm(family_.after ? "pre_feedforward_layernorm" : "post_attention_layernorm", hidden_, false);
    with_experts ? mixture(to) : feed_forward(to, "mlp.", config_.size("intermediate_size"));
    if (family_.after) to.norm("post_feedforward_layernorm", hidden_, false);
    to.each("add_2", "add", hidden_);
  }

  void attention(Layers& to) {
    const Size width = config_.size("head_dim", hidden_ / heads_);
    const Size key_heads = config_.has("num_key_value_heads") ? config_.divisor("num_key_value_heads", heads_) : heads_;
    const bool bias = config_.flag("attention_bias", false);
    const auto product = [&](const char* name, const char* norm, Size heads) {
      to.linear(std::string("self_attn.") + name + "_proj", hidden_, heads * width, bias || family_.bias);
      if (norm == nullptr) return;
      if (family_.head_norms) to.head_norm(std::string("self_attn.") + norm, heads, width);
      if (family_.wide_norms) to.norm(std::string("self_attn.") + norm, heads * width, false);
      to.rotary(std::string("self_attn.") + name + "_rotary", heads, width);
    };
    if (family_.fused) {
      to.linear("self_attn.qkv_proj", hidden_, (heads_ + 2 * key_heads) * width);
      to.rotary("self_attn.rotary", heads_ + key_heads, width);
    } else {
      product("q", "q_norm", heads_);
      product("k", "k_norm", key_heads);
      product("v", nullptr, key_heads);
    }
    to.attention("self_attn.flash", heads_, key_heads, width, width, true);
    to.linear("self_attn.o_proj", heads_ * width, hidden_, bias);
  }

  /// Keys and values from a vector that is shared by all heads (DeepSeek-V2, arXiv:2405.04434, section 2.1).
  void latent_attention(Layers& to) {
    const Size plain = config_.size("qk_nope_head_dim");
    const Size turned = config_.size("qk_rope_head_dim");
    const Size values = config_.size("v_head_dim");
    const Size latent = config_.size("kv_lora_rank");
    if (config_.has("q_lora_rank")) {
      const Size queries = config_.size("q_lora_rank");
      to.linear("self_attn.q_a_proj", hidden_, queries);
      to.norm("self_attn.q_a_layernorm", queries, false);
      to.linear("self_attn.q_b_proj", queries, heads_ * (plain + turned));
    } else {
      to.linear("self_attn.q_proj", hidden_, heads_ * (plain + turned));
    }
    to.rotary("self_attn.q_rotary", heads_, turned);
    to.linear("self_attn.kv_a_proj_with_mqa", hidden_, latent + turned);
    to.rotary("self_attn.k_rotary", 1, turned);
    to.norm("self_attn.kv_a_layernorm", latent, false);
    to.linear("self_attn.kv_b_proj", latent, heads_ * (plain + values));
    to.attention("self_attn.flash", heads_, heads_, plain + turned, values, true);
    to.linear("self_attn.o_proj", heads_ * values, hidden_);
  }

  void feed_forward(Layers& to, const std::string& prefix, Size inner) {
    const bool bias = config_.flag("mlp_bias", false);
    if (family_.fused) {
      to.linear(prefix + "gate_up_proj", hidden_, 2 * inner, bias);
      to.each(prefix + "activation", activation_, inner);
    } else {
      to.linear(prefix + "gate_proj", hidden_, inner, bias);
      to.each(prefix + activation_, activation_, inner);
      to.linear(prefix + "up_proj", hidden_, inner, bias);
    }
    to.each(prefix + "multiply", "multiply", inner);
    to.linear(prefix + "down_proj", inner, hidden_, bias);
  }

  /// Weights of a layer's experts are one tensor, as in grouped products; work is that of those that a token goes to.
  void mixture(Layers& to) {
    for (const char* key : {"decoder_sparse_step", "moe_layer_freq"})
      config_.refuse_other_than(key, 1, "1: experts in every block behind the dense ones");
    if (config_.has("mlp_only_layers") && !config_.at("mlp_only_layers").elements().empty())
      config_.at("mlp_only_layers").fail("[]: experts in every block");
    const bool is_mixtral = config_.has("num_local_experts");
    const std::string prefix = is_mixtral ? "block_sparse_moe." : "mlp.";
    const Size inner = config_.size("moe_intermediate_size", config_.size("intermediate_size", 1));
    const Size chosen = config_.size("num_experts_per_tok");
    to.linear(prefix + "gate", hidden_, experts_);
    to.each(prefix + "softmax", "softmax", experts_);
    to.add(prefix + "permute", "permute", {to.rows(), hidden_}, {to.rows(), chosen * hidden_});
    const auto expert = [&](const std::string& name, const char* type, Size from, Size into, bool sends, bool sums) {
      const bool multiplies = type == std::string("linear");
      to.add(prefix + "experts." + name, type, {to.rows(), chosen * from}, {to.rows(), chosen * into},
             multiplies ? Layers::tensors(prefix + "experts." + name, {experts_, into, from}, 0) : Json(),
             multiplies ? to.per_row(double(chosen) * double(from) * double(into)) : Json());
      to.of_experts(experts_, sends ? "dispatched" : sums ? "combined" : "", chosen * hidden_);
    };
    expert(is_mixtral ? "w1" : "gate_proj", "linear", hidden_, inner, true, false);
    expert(activation_, activation_, inner, inner, false, false);
    expert(is_mixtral ? "w3" : "up_proj", "linear", hidden_, inner, false, false);
    expert("multiply", "multiply", inner, inner, false, false);
    expert(is_mixtral ? "w2" : "down_proj", "linear", inner, hidden_, false, true);
    to.add(prefix + "combine", "combine", {to.rows(), chosen * hidden_}, {to.rows(), hidden_});
    shared_expert(to, inner);
  }

  void shared_expert(Layers& to, Size inner) {
    const Size wide = config_.size("shared_expert_intermediate_size", inner * config_.size("n_shared_experts", 1));
    if (!config_.has("n_shared_experts") && !config_.has("shared_expert_intermediate_size")) return;
    feed_forward(to, "mlp.shared_experts.", wide);
    if (config_.has("shared_expert_intermediate_size")) to.linear("mlp.shared_expert_gate", hidden_, 1);
    to.each("mlp.add_shared", "add", hidden_);
  }

  Config config_;
  const Family& family_;
  Size hidden_ = config_.size("hidden_size");
  Size heads_ = config_.has("head_dim") || config_.has("kv_lora_rank")
                    ? config_.size("num_attention_heads")
                    : config_.divisor("num_attention_heads", hidden_);
  Size experts_ = config_.size("num_local_experts", config_.size("num_experts", config_.size("n_routed_experts", 0)));
  const char* activation_ =
      activation(config_, config_.has("hidden_activation") ? "hidden_activation" : "hidden_act", "silu");
};

/// A block with weights and biases everywhere: of GPT-2, GPT-NeoX, ViT (norms before) and BERT (norms behind).
struct PlainBlock {
  Size hidden, heads, inner;
  const char* activation;
  Size turned = 0;  // values of a head that rotary positions turn; 0: positions are embedded
};
/// As modeling_*.py has them: norm, attention, its output, norm, products up and down.
using BlockNames = std::array<const char*, 6>;

/// Causal ones have one product for queries, keys and values.
void plain_block(Layers& to, const PlainBlock& of, const BlockNames& names, bool causal, bool before) {
  const auto& [norm_1, attends, output, norm_2, up, down] = names;
  const Size width = of.hidden / of.heads;
  const std::string attention = std::string(attends) + ".";
  if (before) to.norm(norm_1, of.hidden, true);
  if (causal) to.linear(attends, of.hidden, 3 * of.hidden, true);
  for (const char* name : {"query", "key", "value"}) {
    if (!causal) to.linear(attention + name, of.hidden, of.hidden, true);
  }
  if (of.turned > 0) to.rotary(attention + "rotary", 2 * of.heads, of.turned);
  to.attention(attention + "flash", of.heads, of.heads, width, width, causal);
  to.linear(output, of.hidden, of.hidden, true);
  to.each("add_1", "add", of.hidden);
  to.norm(before ? norm_2 : norm_1, of.hidden, true);
  to.linear(up, of.hidden, of.inner, true);
  to.each(std::string(up) + "." + of.activation, of.activation, of.inner);
  to.linear(down, of.inner, of.hidden, true);
  to.each("add_2", "add", of.hidden);
  if (!before) to.norm(norm_2, of.hidden, true);
}

Json gpt2(Config config) {
  const Size hidden = config.size("n_embd");
  const Size words = config.size("vocab_size");
  const PlainBlock parts{hidden, config.divisor("n_head", hidden), config.size("n_inner", 4 * hidden),
                         activation(config, "activation_function", "gelu")};
  const BlockNames names{"ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"};
  Layers all("sequence");
  all.embedding("transformer.wte", words, hidden);
  all.embedding("transformer.wpe", config.size("n_positions"), hidden);
  const auto fill = [&](Layers& to) { plain_block(to, parts, names, true, true); };
  all.block("transformer.h.{}", 0, config.size("n_layer"), fill);
  all.norm("transformer.ln_f", hidden, true);
  all.head("lm_head", hidden, words, true);
  return all.list();
}

Json gpt_neox(Config config) {
  const Size hidden = config.size("hidden_size");
  const Size words = config.size("vocab_size");
  const Size heads = config.divisor("num_attention_heads", hidden);
  const double part = config.has("rotary_pct") ? read<double>(config.at("rotary_pct")) : 0.25;
  const PlainBlock parts{hidden, heads, config.size("intermediate_size"), activation(config, "hidden_act", "gelu"),
                         std::max(Size{1}, static_cast<Size>(part * static_cast<double>(hidden / heads)))};
  const BlockNames names{"input_layernorm",          "attention.query_key_value", "attention.dense",
                         "post_attention_layernorm", "mlp.dense_h_to_4h",         "mlp.dense_4h_to_h"};
  Layers all("sequence");
  all.embedding("gpt_neox.embed_in", words, hidden);
  const auto fill = [&](Layers& to) { plain_block(to, parts, names, true, true); };
  all.block("gpt_neox.layers.{}", 0, config.size("num_hidden_layers"), fill);
  all.norm("gpt_neox.final_layer_norm", hidden, true);
  all.head("embed_out", hidden, words, config.flag("tie_word_embeddings", false));
  return all.list();
}

/// BertForMaskedLM, which computes the head for every word.
Json bert(Config config) {
  const Size hidden = config.size("hidden_size");
  const Size words = config.size("vocab_size");
  const char* nonlinear = activation(config, "hidden_act", "gelu");
  const PlainBlock parts{hidden, config.divisor("num_attention_heads", hidden), config.size("intermediate_size"),
                         nonlinear};
  const BlockNames names{"attention.output.LayerNorm", "attention.self",     "attention.output.dense",
                         "output.LayerNorm",           "intermediate.dense", "output.dense"};
  Layers all("sequence");
  all.embedding("bert.embeddings.word_embeddings", words, hidden);
  all.embedding("bert.embeddings.position_embeddings", config.size("max_position_embeddings"), hidden);
  all.embedding("bert.embeddings.token_type_embeddings", config.size("type_vocab_size", 2), hidden);
  all.norm("bert.embeddings.LayerNorm", hidden, true);
  const auto fill = [&](Layers& to) { plain_block(to, parts, names, false, false); };
  all.block("bert.encoder.layer.{}", 0, config.size("num_hidden_layers"), fill);
  all.linear("cls.predictions.transform.dense", hidden, hidden, true);
  all.each("cls.predictions.transform.activation", nonlinear, hidden);
  all.norm("cls.predictions.transform.LayerNorm", hidden, true);
  all.head("cls.predictions.decoder", hidden, words, true, true);
  return all.list();
}

/// ViTForImageClassification; two classes where it says none, as transformers has it.
Json vit(Config config) {
  const Size hidden = config.size("hidden_size");
  const Size side = config.size("image_size");
  const Size patch = config.divisor("patch_size", side);
  const Size colours = config.size("num_channels", 3);
  const Size along = side / patch;
  const Size rows = along * along + 1;
  const Size classes =
      config.has("id2label") ? std::ssize(config.at("id2label").members()) : config.size("num_labels", 2);
  const PlainBlock parts{hidden, config.divisor("num_attention_heads", hidden), config.size("intermediate_size"),
                         activation(config, "hidden_act", "gelu")};
  const BlockNames names{"layernorm_before", "attention.attention", "attention.output.dense",
                         "layernorm_after",  "intermediate.dense",  "output.dense"};
  Layers all(rows);
  const std::string cut = "vit.embeddings.patch_embeddings.projection";
  all.add(cut, "conv2d", {colours, side, side}, {hidden, along, along},
          Layers::tensors(cut, {hidden, colours, patch, patch}, hidden),
          count(double((rows - 1) * hidden) * double(colours * patch * patch)));
  const auto one = [&](const char* name, const Json& shape) {
    return Json::array({{{"name", name}, {"shape", shape}}});
  };
  all.add("vit.embeddings.cls_token", "concat", {rows - 1, hidden}, {rows, hidden},
          one("vit.embeddings.cls_token", {1, 1, hidden}));
  all.add("vit.embeddings.position_embeddings", "add", {rows, hidden}, {rows, hidden},
          one("vit.embeddings.position_embeddings", {1, rows, hidden}));
  const auto fill = [&](Layers& to) { plain_block(to, parts, names, false, true); };
  all.block("vit.encoder.layer.{}", 0, config.size("num_hidden_layers"), fill);
  all.norm("vit.layernorm", hidden, true);
  Layers head(1);
  head.linear("classifier", hidden, classes, true);
  Json list = all.list();
  list.push_back(head.list().front());
  return list;
}

/// Parameters, tensors and multiply-adds of layers at so long a sequence, as a model's file states them.
std::array<double, 3> sums_of(const Json& layers, double length) {
  std::array<double, 3> sums{};
  for (const Json& layer : layers) {
    const Json work = layer.value("macs", Json(0));
    if (work.is_number()) sums[2] += work.get<double>();
    if (work.contains("sequence")) sums[2] += work.at("sequence").get<double>() * length;
    if (work.contains("sequence^2")) sums[2] += work.at("sequence^2").get<double>() * length * length;
    for (const Json& tensor : layer.value("tensors", Json::array())) {
      double elements = 1;
      for (const Json& extent : tensor.at("shape")) elements *= extent.get<double>();
      sums[0] += elements;
      sums[1] += 1;
    }
    if (!layer.contains("block")) continue;
    const auto inside = sums_of(layer.at("layers"), length);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += layer.at("times").get<double>() * inside[i];
  }
  return sums;
}

Json layers_of(const Config& config, const Value& type) {
  const auto name = read<std::string>(type);
  std::vector<std::string> known{"gpt2", "gpt_neox", "bert", "vit"};
  constexpr std::array readers{gpt2, gpt_neox, bert, vit};
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (known[i] == name) return readers[i](config);
  }
  for (const Family& family : families) {
    if (family.type == name) return Decoder(config, family).layers();
    known.emplace_back(family.type);
  }
  type.fail_unknown("a model_type that is known here", known);
}

/// Of the file, or of the folder that it lies in where it is called config.json.
std::string name_of(const Document& document, const std::string& type) {
  const std::filesystem::path file(document.source());
  const auto parent = std::filesystem::absolute(file).parent_path().filename();
  std::string name = file.stem() == "config" ? parent.string() : file.stem().string();
  const auto in_a_name = [](unsigned char letter) { return std::isalnum(letter) != 0 ? std::tolower(letter) : '_'; };
  std::ranges::transform(name, name.begin(),
                         [&](char letter) { return static_cast<char>(in_a_name(static_cast<unsigned char>(letter))); });
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 ? name : type + "_" + name;
}

}  // namespace

bool is_huggingface_config(const Document& document) {
  return document.find("/model_type") && !document.find("/variants");
}

Document model_of_huggingface_config(const Document& document) {
  Config config(document.root());
  const Json layers = layers_of(config, config.at("model_type"));
  const auto type = read<std::string>(config.at("model_type"));
  const bool is_sequence = layers.front().at("input") == Json::array({"sequence"});
  const Size positions = config.size("max_position_embeddings", config.size("n_positions", default_length));
  const Size length = is_sequence ? std::min(default_length, positions) : 0;
  const std::string about = fmt::format("{} as its config.json has it.", type);
  Json variant{{"name", is_sequence ? fmt::format("seq{}", length) : "image"},
               {"summary", about},
               {"source", fmt::format("{}, shapes as transformers' modeling_{}.py", document.source(), type)}};
  if (is_sequence) variant["sequence_length"] = length, variant["longest_sequence"] = positions;
  variant["input"] = layers.front().at("input");
  const auto sums = sums_of(layers, double(length));
  variant["parameters"] = count(sums[0]);
  variant["tensors"] = count(sums[1]);
  variant["macs"] = count(sums[2]);
  variant["layers"] = layers;
  const Json model{{"name", name_of(document, type)}, {"summary", about}, {"variants", {variant}}};
  return Document::parse(model.dump(), document.source());
}

}}  // namespace farandole::workload
