// How a run of a message clock finds that its ranks are in lockstep, and multiplies then (simulate/message_clock.hpp).
#include "simulate/message_run.hpp"

namespace farandole { inline namespace simulate {

void MessageClock::Run::note_entry(const Progress& at) {
  const Lockstep before = lockstep_;
  const double now = network_.now().si();
  if (at.phase != before.phase || at.repeat != before.repeat || now != before.moment) {
    lockstep_ = {at.phase, at.repeat, now};
    lockstep_.follows = before.complete && at.phase == before.phase && at.repeat == before.repeat + 1;
    lockstep_.period = now - before.moment;
  }
  ++lockstep_.entered;
}

void MessageClock::Run::look_for_lockstep() {
  if (lockstep_.complete || lockstep_.entered == 0) return;
  if (lockstep_.entered != clock_.phases_[lockstep_.phase].participants) return;
  const Phase& phase = schedule_.phases[lockstep_.phase];
  if (is_eager(lockstep_.phase)) return;  // what was sent before may be under way still
  if (phase.one_by_one || phase.window != 0 || receivers_move(phase)) return;  // repeats are not alike
  if (started_ != schedule_.ranks || flows_ != static_cast<int>(phase.transfers.size())) return;
  lockstep_.complete = true;
  if (lockstep_.follows && lockstep_.repeat + 1 < phase.repeats) multiply();
}

/// What has just been sent becomes the last repeat; those between take as long as the one before.
void MessageClock::Run::multiply() {
  const Phase& phase = schedule_.phases[lockstep_.phase];
  const int left_out = phase.repeats - 1 - lockstep_.repeat;
  skipped_ += left_out * lockstep_.period;
  for (Progress& at : progress_) {
    if (at.phase == lockstep_.phase) at.repeat = phase.repeats - 1;
  }
  const auto first = static_cast<std::size_t>(clock_.phases_[lockstep_.phase].first);
  for (std::size_t transfer = first; transfer < first + phase.transfers.size(); ++transfer) {
    completed_[transfer] = phase.repeats - 1;
    sent_ += in_flight_[transfer] * left_out;
    received_ += in_flight_[transfer] * left_out;
  }
}

}}  // namespace farandole::simulate
