#include "training/effects/on_off.hpp"

#include "training/random.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr int most_turns = 2'000'000;

}  // namespace

OnOffTraffic::OnOffTraffic(Simulator& simulator, Company& company, const std::vector<OnOffSource>& sources)
    : simulator_(simulator), company_(company), self_(simulator.enlist([this](int source) {
        turn(sources_[static_cast<std::size_t>(source)]);
        simulator_.call_at(simulator_.now() + stretch(sources_[static_cast<std::size_t>(source)]), self_, source);
      })) {
  for (const OnOffSource& of : sources) {
    Source& source = sources_.emplace_back(Source{of});
    if (draw(source) < of.on / (of.on + of.off)) turn(source);
    const auto index = static_cast<int>(sources_.size()) - 1;
    simulator.call_at(stretch(source) * draw(source), self_, index);  // the first one is under way already
  }
}

void OnOffTraffic::turn(Source& source) {
  if (++turns_ > most_turns)
    throw InputError(source.of.place, R"("on" and "off" of no more than 2,000,000 turns while the job runs)", "more");
  source.is_on = !source.is_on;
  for (const int link : source.of.links) company_.take(link, source.is_on ? source.of.rate : source.of.rate * -1.0);
}

double OnOffTraffic::draw(Source& source) {
  return uniform_deviate(mix(source.of.seed) + source.draws++);
}

/// How long it stays as it is.
Seconds OnOffTraffic::stretch(Source& source) {
  const Seconds mean = source.is_on ? source.of.on : source.of.off;
  const Distribution& spread = source.is_on ? source.of.on_spread : source.of.off_spread;
  return mean * spread.factor(draw(source));
}

}}  // namespace farandole::training
