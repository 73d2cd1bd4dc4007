#include "config/section.hpp"
#include "scenario/economics_run.hpp"

namespace farandole { inline namespace scenario {
namespace {

ElsewhereSpec read_elsewhere(const Value& where, const Catalogue& catalogue) {
  Section section(where);
  const Value offer = section.child("offer");
  ElsewhereSpec elsewhere;
  elsewhere.offer = read<std::string>(offer);
  static_cast<void>(catalogue.offer(elsewhere.offer, offer));
  if (const auto topology = section.maybe("topology")) {
    elsewhere.topology = read<std::string>(*topology);
    static_cast<void>(catalogue.device(catalogue.topology(elsewhere.topology, *topology).device, *topology));
  }
  if (const auto ranks = section.maybe("ranks")) elsewhere.ranks = read_at_least(*ranks, 1);
  section.finish();
  return elsewhere;
}

double read_utilisation(const Value& where, const Offer& offer) {
  if (offer.is_committed()) {
    where.fail("no \"utilisation\" beside an offer that has one", "both", "; \"override\" changes the offer's");
  }
  const double share = read<Fraction>(where).value;
  if (!(share > 0 && share <= 1)) where.fail("a share above 0 % and up to 100 %");
  return share;
}

double read_uncertainty(const Value& where) {
  const double share = read<Fraction>(where).value;
  if (!(share >= 0 && share < 1)) where.fail("a share from 0 % to less than 100 %");
  return share;
}

}  // namespace

EconomicsSpec read_economics(const Value& where, const Catalogue& catalogue) {
  Section section(where);
  const Value offer = section.child("offer");
  EconomicsSpec spec{catalogue.offer(read<std::string>(offer), offer, section.maybe("override"))};
  if (const auto years = section.maybe("years")) spec.years = read_at_least(*years, 1);
  if (spec.years > 50) section.child("years").fail("at most 50 years");
  if (const auto share = section.maybe("utilisation")) spec.utilisation = read_utilisation(*share, spec.file.offer);
  if (const auto share = section.maybe("throughput_uncertainty"))
    spec.throughput_uncertainty = read_uncertainty(*share);
  if (const auto elsewhere = section.maybe("compare_with")) spec.elsewhere = read_elsewhere(*elsewhere, catalogue);
  section.finish();
  return spec;
}

}}  // namespace farandole::scenario
