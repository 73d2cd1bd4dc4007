#include "report/point_facets.hpp"

namespace farandole {

std::vector<Facet<TrainingPoint>> training_facets() {
  using Point = TrainingPoint;
  return {
      {"model", [](const Point& p) { return p.model; }, Align::left, true},
      {"variant", [](const Point& p) { return p.variant; }},
      {"platform", [](const Point& p) { return p.platform; }},
      {"strategy", [](const Point& p) { return p.strategy; }},
      {"mode", [](const Point& p) { return p.mode; }},
      {"strategy options", [](const Point& p) { return p.strategy_options; }},
      {"algorithm", [](const Point& p) { return p.algorithm; }},
      {"precision", [](const Point& p) { return p.precision; }},
      {"batch per rank", [](const Point& p) { return std::to_string(p.batch_per_rank); }, Align::right},
      {"ranks", [](const Point& p) { return std::to_string(p.ranks); }, Align::right, true},
      {"nodes", [](const Point& p) { return std::to_string(p.nodes); }, Align::right, true},
      {"fidelity", [](const Point& p) { return p.fidelity; }},
  };
}

std::vector<Facet<CollectivePoint>> collective_facets() {
  using Point = CollectivePoint;
  return {
      {"op", [](const Point& p) { return p.operation; }},
      {"algorithm", [](const Point& p) { return p.algorithm; }},
      {"chosen algorithm", [](const Point& p) { return p.choice ? p.choice->algorithm : std::string(); }},
      {"protocol", [](const Point& p) { return p.choice ? p.choice->protocol : std::string(); }},
      {"channels", [](const Point& p) { return p.choice ? std::to_string(p.choice->channels) : std::string(); },
       Align::right},
      {"ranks", [](const Point& p) { return std::to_string(p.ranks); }, Align::right},
      {"servers", [](const Point& p) { return p.servers > 0 ? std::to_string(p.servers) : ""; }, Align::right},
      {"folded", [](const Point& p) { return std::string(p.folded ? "yes" : "no"); }},
      {"fidelity", [](const Point& p) { return p.fidelity; }},
  };
}

}  // namespace farandole
