// The messages of one product, counted.
#pragma once

#include "transport.hpp"

namespace tessera::scale {

/// Bytes and messages of one rank: those of the plan.
struct Traffic {
  index_t sent = 0, received = 0, messages = 0;
};

class Counted {
 public:
  explicit Counted(Transport& transport) : transport_(transport) {}
  Transport& transport() { return transport_; }
  int rank() const { return transport_.rank(); }
  const Traffic& traffic() const { return traffic_; }
  Transport::Ticket send(const Lines& from, int to, Kind kind) {
    traffic_.sent += from.size();
    return transport_.send(from, to, kind);
  }
  Transport::Ticket receive(const Lines& to, int from, Kind kind) {
    traffic_.received += to.size(), ++traffic_.messages;
    return transport_.receive(to, from, kind);
  }
  bool is_done(Transport::Ticket ticket) { return transport_.is_done(ticket); }

 private:
  Transport& transport_;
  Traffic traffic_;
};

}  // namespace tessera::scale
