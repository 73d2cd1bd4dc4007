// Small offers as text, with numbers that a reader can follow in his head.
#pragma once

#include <string>
#include <vector>

#include "economics/offer.hpp"

namespace farandole::test {

/// A node of 87,600 for ten years: one an hour, used or not.
inline constexpr const char* bought = R"({
  "name": "bought", "kind": "bought", "date": "2020",
  "power": { "host": "200 W", "device_idle": "100 W", "device_busy": "300 W" },
  "pue": 1.5,
  "bought": { "node_price": "87600 USD", "lifetime": "10 years", "electricity": "1 USD/kWh", "utilisation": "50 %" }
})";

inline constexpr const char* rented = R"({
  "name": "rented", "kind": "rented", "date": "2020",
  "power": { "host": "200 W", "device_idle": "100 W", "device_busy": "300 W" },
  "rented": { "node_price": "10 USD/h" }
})";

struct OfferChange {
  std::string pointer;
  std::string value;
};

inline Document offer_document(const char* text, const std::vector<OfferChange>& changes = {}) {
  Document document = Document::parse(text, "offer.json");
  for (const auto& [pointer, value] : changes) document.set(pointer, value);
  return document;
}

inline Offer offer(const char* text, const std::vector<OfferChange>& changes = {}) {
  return read_offer(offer_document(text, changes).root());
}

}  // namespace farandole::test
