// libFuzzer target: TOML is a tree or refused, and as a job configuration of torchtitan, or YAML as NeMo's, it is what
// a scenario says of a job, and where it was said, or refused.
#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "farandole/job_options.hpp"
#include "farandole/pasted_job.hpp"
#include "farandole/toml.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using namespace farandole;

Document document_of_tree(const Node& tree, const char* file) {
  Document document = Document::parse("{}", file);
  for (const auto& [key, value] : Value(tree, "").members()) document.set("/" + pointer_token(key), value.node());
  return document;
}

void require_a_job(const PastedJob& job) {
  fuzz::require(job.ranks >= 0 && job.batch >= 0 && job.sequence_length >= 0, "numbers of a job are none or positive");
  const auto require_json = [](const std::string& text) {
    fuzz::require(nlohmann::json::accept(text), "what a scenario takes over is JSON");
  };
  for (const auto& [key, json] : job.settings) require_json(json);
  for (const auto& [key, json] : job.workload) require_json(json);
  if (!job.model_file.empty()) require_json(job.model_file);
  for (const auto& [pointer, where] : job.origins) fuzz::require(!where.empty(), "what was said was said somewhere");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  (void)is_toml(text);
  fuzz::use_or_refuse([&] {
    const Node tree = parse_toml(text, "fuzz.toml");
    (void)to_json(tree).dump();
    PastedJob job;
    take_torchtitan(job, document_of_tree(tree, "fuzz.toml"));
    require_a_job(job);
  });
  fuzz::use_or_refuse([&] {
    const Document document = document_of_tree(parse_yaml(text, "fuzz.yaml"), "fuzz.yaml");
    PastedJob job;
    JobOptions options = nemo_options(job, document);
    job.batch = options.take_number({"micro-batch-size"}, 1);
    take_megatron(job, options);
    require_a_job(job);
  });
  return 0;
}
