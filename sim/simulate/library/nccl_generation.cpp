#include "simulate/library/nccl_generation.hpp"

#include <array>

#include "simulate/library/nccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

// Ported: nvlink of Pascal to Hopper (topo.h of the release that was tuned on them last: v2.10.3-1, v2.18.6-1,
// v2.20.3-1), ll_channel (v2.25.1-1's llMaxBws of one node over the channels of a DGX-1, DGX A100, DGX H100 and DGX
// B200) and nvls of Hopper (v2.28.3-1: nvlsEfficiency). Fitted: the rest, to allgathers and alltoalls over two and
// eight devices of one node of each (scenarios/published/collectives: dgx-a100-nccl-2-27, dgx-h100-nccl-2-29,
// hgx-b200-nccl-2-27); what four devices, reduce-scatters, allreduces and other machines of the generation take is
// predicted from it. nvls of Blackwell: aws-p6-b200-8ranks from 8 GiB on. Of Pascal and Volta nothing was measured so:
// a release's own latencies count.
constexpr std::array generations{
    NcclGeneration{.nvlink = 18, .ll_channel = 39.0 / 12},
    NcclGeneration{.nvlink = 22, .ll_channel = 39.0 / 12},
    NcclGeneration{20, 87.7 / 24, 8.0, 1.0, 22.5, 4.1, 13.0, .83, .3, .5, .85},
    NcclGeneration{20.6, 141.0 / 32, 4.5, .8, 14.6, 1.9, 9.5, .83, .15, .45, .85},
    NcclGeneration{37.6, 282.0 / 32, 7.6, 1.2, 19.7, .9, 9.0, .8, 1, .58, .666},
};

}  // namespace

const NcclGeneration& nccl_generation(int capability) {
  return generations.at(family_of(capability));
}

}}  // namespace farandole::simulate
