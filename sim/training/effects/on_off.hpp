// Traffic of others that comes and goes: sources that are on and off in turn, for times that are drawn, whatever the
// network does. While a source is on its links have so much less to share.
#pragma once

#include <cstdint>
#include <vector>

#include "config/error.hpp"
#include "engine/company.hpp"
#include "training/effects/distribution.hpp"

namespace farandole { inline namespace training {

struct OnOffSource {
  std::vector<int> links;
  BytesPerSecond rate;
  Seconds on;  // means, above zero
  Seconds off;
  Distribution on_spread;
  Distribution off_spread;
  std::uint64_t seed = 1;
  Place place{};  // in the scenario's file
};

class OnOffTraffic {
 public:
  /// Under way from the start. InputError, while the job runs, where sources turn on and off far more often than
  /// anything that could be simulated. The references must outlive it.
  OnOffTraffic(Simulator& simulator, Company& company, const std::vector<OnOffSource>& sources);
  OnOffTraffic(const OnOffTraffic&) = delete;
  OnOffTraffic& operator=(const OnOffTraffic&) = delete;

 private:
  struct Source {
    OnOffSource of;
    bool is_on = false;
    std::uint64_t draws = 0;
  };
  void turn(Source& source);
  static double draw(Source& source);
  static Seconds stretch(Source& source);

  Simulator& simulator_;
  Company& company_;
  int turns_ = 0;
  std::vector<Source> sources_;
  int self_;
};

}}  // namespace farandole::training
