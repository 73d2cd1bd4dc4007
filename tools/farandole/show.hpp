// What `farandole show` shows of each kind: as text for people, as JSON for scripts, and some as a picture.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace farandole {

struct ShowRequest {
  std::string name;
  std::string operation;
  int ranks = 4;
  int root = 0;
  int ranks_per_node = 1;
  int segments = 0;
  int servers = 0;
};

struct Shown {
  std::string text;
  nlohmann::ordered_json json;
  /// As a picture, where there is one: SVG, or HTML around it.
  std::function<void(std::ostream& out, bool is_html)> draw{};
  /// As a file for other programs, by the name of the format.
  std::map<std::string, std::function<void(std::ostream& out)>> files{};
};

Shown show_models(const ShowRequest& request);
Shown show_model(const ShowRequest& request);
Shown show_topologies(const ShowRequest& request);
Shown show_topology(const ShowRequest& request);
Shown show_algorithms(const ShowRequest& request);
Shown show_algorithm(const ShowRequest& request);
Shown show_offers(const ShowRequest& request);
Shown show_offer(const ShowRequest& request);
Shown show_constants(const ShowRequest& request);
Shown show_strategies(const ShowRequest& request);
Shown show_strategy(const ShowRequest& request);

}  // namespace farandole
