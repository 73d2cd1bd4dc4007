#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/version.hpp"
#include "study/study.hpp"

namespace farandole { inline namespace study {

std::string identity_of(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  std::string all = fmt::format("{} {} {} {} {} {} ", version(), static_cast<int>(options.folding),
                                static_cast<int>(options.network), options.bands, options.explain, options.links);
  for (const Fidelity fidelity : options.fidelities) all += name(fidelity) + " ";
  all += document.to_ordered_json().dump();
  for (const auto& [file, text] : catalogue.texts()) all += text;
  return checksum(all);
}

}}  // namespace farandole::study
