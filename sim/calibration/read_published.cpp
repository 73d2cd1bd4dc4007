#include <array>
#include <utility>

#include "calibration/published.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace calibration {
namespace {

/// What a file or a row may say of its scenario without spelling out the pointer.
constexpr std::array shorthands{
    std::pair{"model", "/workload/model"},
    std::pair{"variant", "/workload/variant"},
    std::pair{"batch_per_rank", "/workload/batch_per_rank"},
    std::pair{"precision", "/workload/precision"},
    std::pair{"gradient_type", "/workload/gradient_type"},
    std::pair{"topology", "/platform/topology"},
    std::pair{"ranks", "/platform/ranks"},
};

/// A scenario by the name of its file, or the object itself as a document of its own.
Document scenario_of(const Value& where, const Catalogue& catalogue) {
  if (where.is_string()) {
    const auto file = catalogue.root() / "scenarios" / read<std::string>(where);
    if (!exists(file)) where.fail("the name of a file in scenarios/");
    return Document::read(file).without("sweep");
  }
  if (!where.is_object()) where.fail("the name of a file in scenarios/, or a scenario");
  Document document = Document::parse("{}", where.place().source);
  for (const auto& [key, value] : where.members()) document.set("/" + key, value.node());
  return document;
}

void apply_shorthands(Section& section, Document& scenario) {
  for (const auto& [key, pointer] : shorthands) {
    if (const auto value = section.maybe(key)) scenario.set(pointer, value->node());
  }
}

PublishedRow read_published_row(const Value& where, const std::string& family, Document scenario,
                                const std::string& note) {
  Section section(where);
  apply_shorthands(section, scenario);
  if (const auto set = section.maybe("set")) {
    for (const auto& [pointer, value] : set->members()) scenario.set(pointer, value.node());
  }
  const auto rate = section.maybe("images_per_second");
  const auto efficiency = section.maybe("scaling_efficiency");
  if (rate.has_value() == efficiency.has_value()) {
    where.fail("\"images_per_second\" or \"scaling_efficiency\"", rate ? "both" : "neither");
  }
  section.maybe("transport");  // in the source's words
  section.maybe("one_gpu");    // which the devices' files have too
  PublishedRow row{family, "", std::move(scenario), {}, {}, section.optional<std::string>("note", note)};
  if (rate) row.samples_per_second = read_above_zero<double>(*rate);
  if (efficiency) row.efficiency = read_above_zero<double>(*efficiency);
  section.finish();
  return row;
}

}  // namespace

std::vector<PublishedRow> read_published(const Document& file, const std::string& family, const Catalogue& catalogue) {
  Section section(file.root());
  section.required<std::string>("summary");
  const auto source = section.required<std::string>("source");
  section.required<std::string>("confidence");
  section.required<std::string>("use");
  const auto software = section.optional<std::string>("software", "");
  Document scenario = scenario_of(section.child("scenario"), catalogue);
  apply_shorthands(section, scenario);
  const auto note = section.optional<std::string>("note", "");
  const Value rows = section.child("rows");
  section.finish();
  std::vector<PublishedRow> result;
  for (const Value& row : rows.elements()) {
    result.push_back(read_published_row(row, family, scenario, note));
    result.back().source = source;
    result.back().software = software.substr(0, software.find_first_of(" ,;"));
  }
  return result;
}

}}  // namespace farandole::calibration
