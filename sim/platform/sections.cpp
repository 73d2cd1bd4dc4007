#include "platform/sections.hpp"

#include "config/named.hpp"
#include "platform/link.hpp"

namespace farandole { inline namespace platform {
namespace {

BytesPerSecond read_rate(const Value& value) {
  const auto rate = read<BytesPerSecond>(value);
  if (rate < least_link_rate) value.fail(least_link_rate_text);
  return rate;
}

}  // namespace

Section sourced(const Value& value) {
  Section section(value);
  (void)section.maybe_read<std::string>("source");
  return section;
}

Topology::LinkRate read_link(const Value& value) {
  const Topology::LinkRate link = read_nic(value);
  if (link.flow_rate < BytesPerSecond::infinity() || link.cpu_rate) {
    value.fail("\"flow_rate\" and \"cpu_rate\" in the protocol of a NIC only", "them here");
  }
  return link;
}

Topology::LinkRate read_nic(const Value& value) {
  Section section = sourced(value);
  Topology::LinkRate link;
  link.wire = read_rate(section.child("rate"));
  if (const auto host_rate = section.maybe("host_rate")) link.host_rate = read_rate(*host_rate);
  link.latency = section.optional<Seconds>("latency", Seconds(0));
  if (const auto protocol = section.maybe("protocol")) {
    const PacketFormat format = read_protocol(*protocol);
    link.protocol = read<std::string>(Section(*protocol).child("name"));
    link.payload_share = format.efficiency();
    link.ack_overhead = format.ack_overhead();
    link.flow_rate = format.flow_rate;
    if (format.cpu_rate < BytesPerSecond::infinity()) link.cpu_rate = format.cpu_rate;
  }
  section.finish();
  return link;
}

int read_positive(Section& section, std::string_view key, int fallback) {
  const auto value = section.maybe(key);
  return value ? read_at_least(*value, 1) : fallback;
}

std::size_t read_choice(Section& section, std::string_view key, std::string_view what,
                        const std::vector<std::string>& names) {
  const auto value = section.maybe(key);
  return value ? read_place(*value, what, names) : 0;
}

}}  // namespace farandole::platform
