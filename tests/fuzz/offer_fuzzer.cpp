// libFuzzer target: a file of topologies/offers/ is a way to have nodes, owned or rented, or refused.
#include "economics/offer.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const Document document = Document::parse(text, "fuzz.json");
    const Offer offer = read_offer(document.root());
    fuzz::require(offer.owned.has_value() != offer.rented.has_value(), "nodes are owned or rented");
    fuzz::require(offer.pue >= 1 && offer.utilisation > 0 && offer.utilisation <= 1, "shares are shares");
    fuzz::require(draw(offer.power, 1, 0.5) >= Watts(0), "power is not negative");
  });
  return 0;
}
