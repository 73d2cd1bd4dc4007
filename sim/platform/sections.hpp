// What readers of topology files share: sections with a source, rates, and links.
#pragma once

#include "config/section.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

/// A section in which numbers stand, with the place they were published at beside them.
Section sourced(const Value& value);

/// {"rate": ..., "host_rate": ..., "latency": ..., "protocol": ...}; rates above zero.
Topology::LinkRate read_link(const Value& value);

/// The same, whose protocol may say what CPUs do for it.
Topology::LinkRate read_nic(const Value& value);

/// The integer under `key`, at least 1; `fallback` where it is not there.
int read_positive(Section& section, std::string_view key, int fallback);

/// The place among `names` of the word under `key`; 0 where the key is not there. `what` is "a routing", ...
std::size_t read_choice(Section& section, std::string_view key, std::string_view what,
                        const std::vector<std::string>& names);

/// What a link carries at least, in a file of any form: below it SimGrid takes a rate for none.
inline constexpr BytesPerSecond least_link_rate{0.125};
inline constexpr const char* least_link_rate_text = "a rate above zero, of at least 1 bit/s";

}}  // namespace farandole::platform
