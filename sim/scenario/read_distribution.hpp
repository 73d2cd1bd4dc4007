// Reading shares, rates and distributions: the small values that the sections about effects are made of.
//
// A distribution is a share ("2 %": normal with that standard deviation) or a time ("25 us": always the same), or an
// object that names its kind: {"distribution": "lognormal", "mean": "25 us", "deviation": "10 us"}. The deviation may
// also be a share of the mean ("40 %").
#pragma once

#include "config/document.hpp"
#include "training/effects/distribution.hpp"
#include "training/effects/input_pipeline.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace scenario {

/// A percentage from 0 to `most` times 100 %.
double read_share(const Value& where, double most);

/// Of something relative: mean 1.
Distribution read_jitter(const Value& where);

struct TimeDistribution {
  Seconds mean;
  Distribution spread;
};
TimeDistribution read_time_distribution(const Value& where);

/// "effects/input".
InputSupply read_input(const Value& where);

}}  // namespace farandole::scenario
