// What `farandole show` shows of each kind: as text for people and as JSON for scripts.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace farandole {

struct ShowRequest {
  std::string name;
  std::string operation;
  int ranks = 4;
};

struct Shown {
  std::string text;
  nlohmann::ordered_json json;
};

Shown show_models(const ShowRequest& request);
Shown show_model(const ShowRequest& request);
Shown show_topologies(const ShowRequest& request);
Shown show_topology(const ShowRequest& request);
Shown show_algorithms(const ShowRequest& request);
Shown show_algorithm(const ShowRequest& request);
Shown show_strategies(const ShowRequest& request);
Shown show_strategy(const ShowRequest& request);

}  // namespace farandole
