// farandole show offers, farandole show offer NAME.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.hpp"
#include "economics/cost.hpp"
#include "scenario/catalogue.hpp"
#include "show.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

/// What a node of eight busy devices costs for an hour, for a first impression.
constexpr NodeUse eight_busy{1, 8, 1};

double per_hour(const Offer& offer) {
  return (node_rate(offer, eight_busy) * hour).si();
}

Json json_of(const OfferFile& file) {
  const Offer& offer = file.offer;
  return {{"name", offer.name},
          {"summary", document_summary(file.document)},
          {"kind", offer.kind},
          {"date", offer.date},
          {"currency", offer.currency},
          {"cost_per_node_hour", per_hour(offer)},
          {"utilisation", offer.utilisation},
          {"pue", offer.pue},
          {"host_watts", offer.power.host.si()},
          {"device_idle_watts", offer.power.device_idle.si()},
          {"device_busy_watts", offer.power.device_busy.si()},
          {"assumptions", offer.assumptions}};
}

OfferFile load_offer(const Catalogue& catalogue, const std::string& name) {
  const OptionValue option("show offer", name);
  return catalogue.offer(name, option.value());
}

}  // namespace

Shown show_offers(const ShowRequest& /*request*/) {
  const Catalogue catalogue;
  Shown shown;
  shown.json = Json::array();
  for (const std::string& name : catalogue.offers()) {
    const OfferFile file = load_offer(catalogue, name);
    shown.json.push_back(json_of(file));
    shown.text += fmt::format("{:<24} {:<9} {:<18} {:>8.2f} {}/h  {}\n", name, file.offer.kind, file.offer.date,
                              per_hour(file.offer), file.offer.currency, document_summary(file.document));
  }
  shown.text += "\nPer node hour with eight busy devices; what is bought or reserved, at the offer's utilisation.\n";
  return shown;
}

Shown show_offer(const ShowRequest& request) {
  const OfferFile file = load_offer(Catalogue(), request.name);
  const Offer& offer = file.offer;
  Shown shown;
  shown.json = json_of(file);
  shown.text = fmt::format(
      "{}: {}\n  {}, prices of {}\n  {:.2f} {} per node hour with eight busy devices, in use {:.0f} % of the time\n",
      offer.name, document_summary(file.document), offer.kind, offer.date, per_hour(offer), offer.currency,
      offer.utilisation * 100);
  shown.text +=
      fmt::format("  a node draws {:.0f} W, a device {:.0f} W idle and {:.0f} W busy; PUE {}\n", offer.power.host.si(),
                  offer.power.device_idle.si(), offer.power.device_busy.si(), offer.pue);
  if (!offer.assumptions.empty()) shown.text += fmt::format("  assumes {}\n", fmt::join(offer.assumptions, ", "));
  return shown;
}

}  // namespace farandole
