// libFuzzer target: any text ends in a Document or an InputError, and a Document can be set, read and printed.
#include <string_view>

#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "config/section.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using namespace farandole;

void read_as_everything(const Value& value) {
  if (value.is_array()) {
    for (const Value& element : value.elements()) read_as_everything(element);
  } else if (value.is_object()) {
    for (const auto& member : value.members()) read_as_everything(member.second);
    Section section(value);
    (void)section.maybe("rate");
    section.finish();
  } else if (value.is_string()) {
    (void)read<BytesPerSecond>(value);
  } else {
    (void)read<int>(value);
  }
}

/// The first line is a pointer for `set`, the second its value, the rest the document.
void exercise(std::string_view text) {
  const auto first = text.find('\n');
  const auto second = first == std::string_view::npos ? first : text.find('\n', first + 1);
  if (second == std::string_view::npos) return;
  auto document = Document::parse(text.substr(second + 1), "fuzz.json");
  (void)document.to_json().dump();
  document.set(text.substr(0, first), text.substr(first + 1, second - first - 1));
  (void)document.to_json().dump();
  read_as_everything(document.root());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::use_or_refuse([text = std::string(data, data + size)] { exercise(text); });
  return 0;
}
