#include "simulate/library/nccl_tuning.hpp"

#include "simulate/library/library_file.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr const char* us = "us";
constexpr const char* gigabytes_per_second = "GB/s";
constexpr std::array both_algorithms{"tree", "ring"};
constexpr std::array of_generations{"volta", "ampere", "hopper", "blackwell"};
constexpr std::array of_newer{"hopper", "blackwell"};
constexpr std::array of_families{"pascal", "volta", "ampere", "hopper", "blackwell"};
constexpr std::array of_operations{"broadcast", "reduce", "allgather", "reduce_scatter", "allreduce"};
constexpr std::array of_links{"nvlink", "pcie"};
/// As NcclRingSteps, NcclPlateau, NcclNvlsRate and NcclCollNetGathers have them.
constexpr std::array ring_steps{"all_alike", "net_apart", "net_and_posting", "net_as_trees"};
constexpr std::array plateaus{"none", "by_size", "by_size_per_channel"};
constexpr std::array nvls_rates{"data", "bus"};
constexpr std::array collnet_gathers{"none", "blended", "nearest"};

/// How the numbers of a table are read: singly, or by protocol or scale.
double one_rate(const Value& value) {
  return number_in(value, gigabytes_per_second);
}
PerProtocol three_times(const Value& value) {
  return numbers_in<3>(value, us);
}
PerProtocol three_shares(const Value& value) {
  return numbers_in<3>(value, "");
}
PerScale three_rates(const Value& value) {
  return numbers_in<3>(value, gigabytes_per_second);
}
PerAlgorithm times_of_both(const Value& value) {
  return read_each(value, both_algorithms, three_times);
}

template <class T>
void unlimited(T& limit) {
  if constexpr (std::is_same_v<T, double>) {
    limit = no_rate_limit;
  } else {
    for (auto& part : limit) unlimited(part);
  }
}

/// A limit that is not there is none.
template <class T, class Read>
void read_limit(Section& section, const char* key, T& limit, const Read& read_it) {
  unlimited(limit);
  if (const auto value = section.maybe(key)) limit = read_it(*value);
}

double read_number(Section& section, const char* key, const char* unit) {
  return number_in(section.child(key), unit);
}

void read_latency(const Value& value, NcclTuning& tuning) {
  Section section = read_block(value);
  tuning.base = times_of_both(section.child("base"));
  tuning.hop = {times_of_both(section.child("nvlink")), times_of_both(section.child("pcie")),
                times_of_both(section.child("network"))};
  section.finish();
}

void read_links(const Value& value, NcclTuning& tuning) {
  Section section = read_block(value);
  tuning.nvlink = read_generations(section.child("nvlink"), of_families, one_rate);
  read_limit(section, "most_on_ampere", tuning.most_on_ampere, one_rate);
  section.finish();
}

void read_tree(const Value& value, NcclTuning& tuning) {
  Section section = read_block(value);
  tuning.tree_share = read_number(section, "share", "");
  tuning.tree_share_inside = three_shares(section.child("share_inside"));
  tuning.tree_share_between = three_shares(section.child("share_between"));
  read_limit(section, "per_channel", tuning.tree_per_channel,
             [](const Value& table) { return read_generations(table, of_generations, three_rates); });
  read_limit(section, "most", tuning.tree_most, three_rates);
  read_limit(section, "most_ll128_on_ampere", tuning.tree_most_ll128_ampere, three_rates);
  read_limit(section, "ll128_of_ring", tuning.tree_ll128_of_ring,
             [](const Value& share) { return number_in(share, ""); });
  read_limit(section, "ll128_per_channel", tuning.tree_ll128_newer,
             [](const Value& table) { return read_generations(table, of_newer, three_rates); });
  for (auto& protocol : tuning.tree_correction) protocol.fill(1);
  if (const auto by_size = section.maybe("by_size")) {
    tuning.tree_correction =
        read_each(*by_size, nccl_protocol_names, [](const Value& row) { return numbers_in<23>(row, ""); });
  }
  section.finish();
}

void read_ring(const Value& value, NcclTuning& tuning) {
  Section section = read_block(value);
  tuning.ring_ll_share = read_number(section, "ll_share", "");
  tuning.ring_ll128_share = read_number(section, "ll128_share", "");
  tuning.ring_ll128_share_alone = read_number(section, "ll128_share_alone", "");
  const auto by_operation = [](const Value& table) { return read_each(table, of_operations, one_rate); };
  read_limit(section, "ll128_per_channel", tuning.ring_ll128_per_channel, by_operation);
  read_limit(section, "ll128_most", tuning.ring_ll128_most, by_operation);
  read_limit(section, "ll128_per_channel_of_newer", tuning.ring_ll128_newer,
             [](const Value& table) { return read_generations(table, of_newer, one_rate); });
  read_limit(section, "ll_most", tuning.ll_most,
             [](const Value& table) { return read_generations(table, of_generations, three_rates); });
  tuning.ll_third = section.optional<bool>("ll_third", false);
  tuning.ring_steps = static_cast<NcclRingSteps>(read_place(section.child("steps"), "a way to count", ring_steps));
  tuning.plateau = static_cast<NcclPlateau>(read_place(section.child("plateau"), "a plateau", plateaus));
  section.finish();
}

void read_chunks(const Value& value, NcclTuning& tuning) {
  Section section = read_block(value);
  tuning.message_chunk = section.required<Bytes>("message").si();
  tuning.tree_chunks = {section.required<Bytes>("buffer").si(), section.required<Bytes>("least_of_tree").si()};
  section.finish();
}

NcclNvls read_nvls(const Value& value) {
  Section section = read_block(value);
  const NcclNvls nvls{read_number(section, "inside", us), read_number(section, "network", us),
                      static_cast<NcclNvlsRate>(read_place(section.child("counted"), "a rate", nvls_rates))};
  section.finish();
  return nvls;
}

NcclPat read_pat(const Value& value) {
  Section section = read_block(value);
  const NcclPat pat{read_number(section, "base", us), read_number(section, "per_rank", us),
                    read_number(section, "network_of_tree", ""), read_number(section, "share", "")};
  section.finish();
  return pat;
}

NcclCollNetWay read_collnet_way(const Value& value) {
  Section section(value);
  const NcclCollNetWay way{
      three_times(section.child("base")), read_each(section.child("inside"), of_links, three_times),
      three_times(section.child("network")), read_number(section, "peer", us), three_shares(section.child("share"))};
  section.finish();
  return way;
}

NcclCollNet read_collnet(const Value& value) {
  constexpr int any = 1 << 20;
  Section section = read_block(value);
  NcclCollNet collnet;
  if (const auto direct = section.maybe("direct")) collnet.direct = read_collnet_way(*direct);
  if (const auto chain = section.maybe("chain")) collnet.chain = read_collnet_way(*chain);
  collnet.fewest_nodes = read_at_least(section.child("fewest_nodes"), 1);
  const auto most = section.maybe("most_by_chain");
  collnet.most_by_chain = most ? read_at_least(*most, 1) : any;
  collnet.direct_needs_switch = section.required<bool>("direct_needs_switch");
  collnet.direct_counts_nics = section.required<bool>("direct_counts_nics");
  collnet.direct_on_newer = read_number(section, "direct_on_newer", "");
  collnet.direct_has_search = section.optional<bool>("direct_has_search", false);
  collnet.exposes_net = section.optional<bool>("exposes_network", false);
  collnet.gathers =
      static_cast<NcclCollNetGathers>(read_place(section.child("gathers"), "a way to count", collnet_gathers));
  if (const auto net = section.maybe("nvls_network")) collnet.nvls_net = number_in(*net, us);
  section.finish();
  return collnet;
}

std::vector<double> read_tried(const Value& value) {
  Section section = read_block(value);
  std::vector<double> rates;
  for (const Value& rate : section.child("before_hopper").elements()) rates.push_back(one_rate(rate));
  section.finish();
  return rates;
}

void check_way(Section& row, Operation /*operation*/) {
  static_cast<void>(read_place(row.child("algorithm"), "an algorithm of NCCL", nccl_algorithm_names));
  static_cast<void>(read_place(row.child("protocol"), "a protocol of NCCL", nccl_protocol_names));
}

/// Compute capabilities, times ten, of of_generations.
constexpr std::array capabilities{70, 80, 90, 100};

}  // namespace

NcclTuning read_nccl_tuning(Section& section, const std::string& library) {
  NcclTuning tuning;
  tuning.library = library;
  tuning.newest = capabilities.at(read_place(section.child("newest"), "a generation", of_generations));
  tuning.simple_alone = section.optional<bool>("simple_alone", false);
  read_latency(section.child("latency"), tuning);
  read_links(section.child("links"), tuning);
  read_tree(section.child("tree"), tuning);
  read_ring(section.child("ring"), tuning);
  read_chunks(section.child("chunks"), tuning);
  if (const auto nvls = section.maybe("nvls")) tuning.nvls = read_nvls(*nvls);
  if (const auto pat = section.maybe("pat")) tuning.pat = read_pat(*pat);
  if (const auto collnet = section.maybe("collnet")) tuning.collnet = read_collnet(*collnet);
  if (tuning.collnet) tuning.collnet->tried = read_tried(section.child("collnet_rates"));
  if (const auto tuner = section.maybe("tuner")) tuning.tuner = read_decision_rules(*tuner, check_way);
  return tuning;
}

}}  // namespace farandole::simulate
