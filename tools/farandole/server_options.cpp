#include "server_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "collective/algorithms/exchanges.hpp"
#include "collective/tensor_placement.hpp"
#include "command.hpp"
#include "page_options.hpp"
#include "scenario/catalogue.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

constexpr double bytes_of_a_gradient = 4;  // fp32, as nccl-tests' floats

/// "vgg16" or "vgg16/tf_cnn_benchmarks": the sizes of its tensors, in its order.
std::vector<Bytes> tensors_of(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  const bool is_file = text.ends_with(".json");
  const std::string name = is_file ? text : text.substr(0, slash);
  const OptionValue model_option("--model", name);
  const ModelSummary summary = Catalogue().model(name, model_option.value());
  const std::string variant = is_file || slash == std::string::npos ? "" : text.substr(slash + 1);
  const OptionValue variant_option("--model", variant);
  std::vector<Bytes> sizes;
  for (const Layer& layer : choose_variant(summary, variant, variant_option.value()).layers) {
    for (const Tensor& tensor : layer.tensors) {
      sizes.emplace_back(static_cast<double>(tensor.elements()) * bytes_of_a_gradient);
    }
  }
  return sizes;
}

const TensorPlacement& placement_of_tensors(const std::string& text) {
  const TensorPlacement* found = find_tensor_placement(text);
  if (found != nullptr) return *found;
  std::vector<std::string> known = tensor_placement_names();
  known.emplace_back("even");
  refuse_option("--sharding", "a sharding", text, suggestion(text, known));
}

bool is_per_tensor(const std::string& text) {
  if (text == "per_tensor") return true;
  if (text == "fused") return false;
  refuse_option("--messages", "fused or per_tensor", text, suggestion(text, {"fused", "per_tensor"}));
}

std::vector<std::vector<double>> shards(const std::vector<Bytes>& tensors, const std::string& sharding, int servers) {
  std::vector<std::vector<double>> result;
  for (const auto& shard : shards_of(tensors, placement_of_tensors(sharding).place(tensors, servers), servers)) {
    auto& sizes = result.emplace_back();
    for (const Bytes size : shard) sizes.push_back(size.si());
  }
  return result;
}

Bytes size_of_key(const std::string& text) {
  const auto parsed = parse_size(text);
  if (const auto* mismatch = std::get_if<UnitMismatch>(&parsed)) refuse_option("--key", mismatch->expected, text);
  if (std::get<Bytes>(parsed) < Bytes(1)) refuse_option("--key", "at least a byte", text);
  return std::get<Bytes>(parsed);
}

double contribution(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) || number < 0) {
    refuse_option("--contributions", "numbers of at least 0 between commas", std::string(text));
  }
  return number;
}

bool takes_contributions(Operation operation) {
  return operation == Operation::allgather || operation == Operation::alltoall || operation == Operation::gather ||
         operation == Operation::scatter || operation == Operation::reduce_scatter;
}

/// Each rank's own, in equal parts to all ranks.
std::vector<double> to_all_alike(const std::vector<double>& of_ranks) {
  std::vector<double> result;
  for (const double all : of_ranks) result.insert(result.end(), of_ranks.size(), all);
  return result;
}

}  // namespace

void require_servers(const Algorithm& algorithm, int ranks, int servers) {
  const std::string got = std::to_string(servers);
  if (algorithm.operation != Operation::parameter_server) {
    refuse_option("--servers", "no servers, for an algorithm of " + name(algorithm.operation), got);
  }
  const bool are_dedicated = algorithm.build(Shape(2)).first_worker > 0;
  const int most = most_servers(ranks, are_dedicated);
  if (servers > most) {
    refuse_option("--servers",
                  fmt::format("at most {}, {}", most,
                              are_dedicated ? "so that one of the ranks is left to work" : "one on each rank"),
                  got);
  }
}

void ServerOptions::add_to(CLI::App& command) {
  command.add_option("--servers", servers, "parameter servers among the ranks; 0: as the algorithm sees fit")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--model", model,
                  "the model whose tensors parameter servers keep, as NAME or NAME/VARIANT; its size is the default of "
                  "-b and -e")
      ->type_name("MODEL");
  command
      .add_option("--sharding", sharding,
                  "even (the default without a model), or whole tensors, round_robin (the default with one) or by_size")
      ->type_name("HOW");
  command.add_option("--messages", messages, "a shard's tensors fused, or in messages per_tensor")
      ->type_name("HOW")
      ->capture_default_str();
  command.add_option("--key", key, "cut shards into keys of at most this size, each pulled as soon as it is summed")
      ->type_name("SIZE");
}

ServerRequest ServerOptions::request(const Algorithm& algorithm, int ranks) const {
  ServerRequest wanted;
  wanted.servers = whole_number("--servers", servers, 0);
  if (wanted.servers > 0) require_servers(algorithm, ranks, wanted.servers);
  wanted.message_per_tensor = is_per_tensor(messages);
  if (!key.empty()) wanted.key = size_of_key(key);
  const bool is_for_servers = algorithm.operation == Operation::parameter_server;
  for (const auto& [option, text] : {std::pair("--model", model), {"--sharding", sharding}, {"--key", key}}) {
    if (!is_for_servers && !text.empty())
      refuse_option(option, "no " + std::string(option) + " for " + name(algorithm.operation), text);
  }
  wanted.model = model;
  wanted.sharding = !sharding.empty() ? sharding : model.empty() ? "even" : "round_robin";
  if (wanted.sharding != "even") {
    placement_of_tensors(wanted.sharding);
    if (model.empty()) refuse_option("--sharding", "even, or a --model whose tensors are placed", sharding);
    Shape shape(ranks);
    shape.servers = wanted.servers;
    wanted.shards = shards(tensors_of(model), wanted.sharding, algorithm.build(shape).servers);
  }
  const bool has_keys = wanted.key > Bytes(0) || algorithm.key > Bytes(0);
  if (wanted.message_per_tensor && (wanted.shards.empty() || has_keys)) {
    refuse_option("--messages", "fused, unless a --model's whole tensors are placed and not cut into keys", messages);
  }
  return wanted;
}

void ServerOptions::require_unused() const {
  const ServerOptions unused;
  const auto require_same = [](const char* option, const std::string& given, const std::string& none) {
    if (given != none) refuse_option(option, "no " + std::string(option) + " for an algorithm from a file", given);
  };
  require_same("--servers", servers, unused.servers);
  require_same("--model", model, unused.model);
  require_same("--sharding", sharding, unused.sharding);
  require_same("--messages", messages, unused.messages);
  require_same("--key", key, unused.key);
}

std::string ServerOptions::typed() const {
  std::string line;
  const auto add = [&](const char* option, const std::string& value, const std::string& otherwise) {
    if (value != otherwise) line += std::string(" ") + option + " " + shell_word(value);
  };
  add("--servers", servers, "0");
  add("--model", model, "");
  add("--sharding", sharding, "");
  add("--messages", messages, "fused");
  add("--key", key, "");
  return line;
}

Bytes ServerOptions::bytes_of_model() const {
  Bytes sum;
  for (const Bytes size : tensors_of(model)) sum += size;
  return sum;
}

std::vector<double> contributions(const std::string& text, const Algorithm& algorithm, int ranks) {
  if (text.empty()) return {};
  if (!takes_contributions(algorithm.operation)) {
    refuse_option("--contributions", "none, since all contribute alike to " + name(algorithm.operation), text);
  }
  std::vector<double> result;
  std::string_view rest = text;
  for (std::size_t comma = 0; comma != std::string_view::npos; rest.remove_prefix(std::min(comma + 1, rest.size()))) {
    comma = rest.find(',');
    result.push_back(contribution(rest.substr(0, comma)));
  }
  const auto n = static_cast<std::size_t>(ranks);
  const bool is_alltoall = algorithm.operation == Operation::alltoall;
  if (result.size() != n && !(is_alltoall && result.size() == n * n)) {
    const std::string pairs = is_alltoall ? fmt::format(", or one for each of {} pairs", n * n) : "";
    refuse_option("--contributions", fmt::format("one number for each of {} ranks{}", n, pairs),
                  fmt::format("{} numbers: {}", result.size(), text));
  }
  if (std::ranges::all_of(result, [](double number) { return number == 0; })) {
    refuse_option("--contributions", "at least one above 0", text);
  }
  return is_alltoall && result.size() == n ? to_all_alike(result) : result;
}

}  // namespace farandole
