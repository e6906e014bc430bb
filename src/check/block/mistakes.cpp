// Describes mistakes and their places: elements outside a tensor, invalid addresses, faults of
// the block. See recorder.hpp.
#include <algorithm>
#include <bit>

#include "check/padding.hpp"
#include "recorder.hpp"

namespace tessera::check {

using tessera::detail::Access;

constexpr const char* kSmallerTensors =
    "give the kernel tensors that are no larger than their memory";

Mistake BlockRecorder::mistake_at(Kind kind, Memory memory, Here here, int thread) const {
  Mistake out;
  out.kind = kind;
  out.memory = memory;
  out.here = here;
  out.thread = thread;
  out.block = block_.linear;
  if (thread < 0) return out;
  if (const char* name = superstep_of_[static_cast<std::size_t>(thread)]) out.superstep = name;
  return out;
}

Mistake BlockRecorder::mistake_at(Kind kind, Memory memory, Here here, Access access) const {
  Mistake out = mistake_at(kind, memory, here, thread_);
  out.writes = access == Access::store || access == Access::atomic;
  out.is_atomic = access == Access::atomic || access == Access::atomic_load;
  return out;
}

void BlockRecorder::report_misaligned(int number, std::uint64_t address, std::size_t piece,
                                      Access access, Here here) {
  const Region& found = region(number);
  const std::uint64_t offset = address - found.begin, beyond = offset % piece;
  Mistake mistake = mistake_at(Kind::misaligned, found.memory, here, access);
  mistake.object = object_at(number, offset);
  if (is_repeated(mistake)) return;
  locate(mistake, number, offset);
  mistake.detail = beyond != 0 ? cat(piece, " bytes at an address that is ", beyond,
                                     " beyond a multiple of ", piece)
                               : cat(piece, " bytes of a tensor whose first byte is ",
                                     address % piece, " beyond a multiple of ", piece);
  add_mistake(std::move(mistake));
}

void BlockRecorder::report_beyond(int number, std::uint64_t address, std::size_t bytes,
                                  Access access, Here here) {
  const Region& found = region(number);
  Mistake mistake = mistake_at(Kind::out_of_bounds, found.memory, here, access);
  mistake.object = object_at(number, address - found.begin);
  if (is_repeated(mistake)) return;
  locate(mistake, number, address - found.begin);
  mistake.detail = cat(bytes, " bytes from here, of which the last ", address + bytes - found.end,
                       " are beyond the end");
  add_mistake(std::move(mistake));
}

void BlockRecorder::report_between(const std::pair<std::uint64_t, std::uint64_t>& object,
                                   std::uint64_t offset, Access access, Here here) {
  Mistake mistake = mistake_at(Kind::out_of_bounds, Memory::shared, here, access);
  mistake.object = object_at(kSharedRegion, object.first);
  if (is_repeated(mistake)) return;
  const auto* const variable = shared_variable_at(object.first);
  mistake.tensor = variable == nullptr ? "shared storage" : variable->name;
  mistake.detail = offset >= object.second
                       ? cat(offset - object.second, " bytes after the end of ", mistake.tensor)
                       : cat("bytes of which the last are after the end of ", mistake.tensor);
  mistake.advice = "guard the access with the extent of the array";
  add_mistake(std::move(mistake));
}

int BlockRecorder::nearest_region(std::uint64_t address) {
  int nearest = -1;
  std::pair best(true, std::uint64_t{1} << 40);  // its elements first, then by distance
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& r = regions_[i];
    if (r.begin == r.end) continue;
    const std::uint64_t away = address < r.begin  ? r.begin - address
                               : address >= r.end ? address - r.end + 1
                                                  : 0;
    Mistake place;
    if (i >= kFirstBuffer && away > 0) locate(place, static_cast<int>(i), address - r.begin);
    const std::pair at(place.element.empty(), away);
    if (at < best) best = at, nearest = static_cast<int>(i);
  }
  return nearest;
}

void BlockRecorder::report_wild(std::uint64_t address, Access access, Here here) {
  Mistake mistake = mistake_at(Kind::out_of_bounds, Memory::global, here, access);
  for (const auto& buffer : context_.launch.buffers) {
    if (!lies_in_null(buffer, address)) continue;
    mistake.tensor = buffer.name;
    mistake.detail = cat(buffer.name, ", whose pointer is null");
    mistake.advice = "allocate it, or let the kernel do without it";
    return add_mistake(std::move(mistake));
  }
  report_away(nearest_region(address), address, access, here);
}

void BlockRecorder::report_away(int nearest, std::uint64_t address, Access access, Here here) {
  Mistake mistake = mistake_at(Kind::out_of_bounds, Memory::global, here, access);
  mistake.object = nearest < 0 ? -1 : object_at(nearest, 0);
  if (is_repeated(mistake)) return;
  if (nearest >= 0) {
    const Region& r = region(nearest);
    mistake.memory = r.memory;
    if (r.buffer >= 0) locate(mistake, nearest, address - r.begin);
    if (!mistake.element.empty()) {
      const auto& tensor = context_.launch.buffers[static_cast<std::size_t>(r.buffer)];
      const auto [begin, end] = memory_of(tensor);
      mistake.detail = cat("the tensor is larger than its memory: its layout takes ",
                           reach_of(tensor), " bytes, of which ", end - begin, " exist");
      mistake.advice = kSmallerTensors;
      return add_mistake(std::move(mistake));
    }
    mistake.tensor = r.buffer < 0
                         ? "shared storage"
                         : context_.launch.buffers[static_cast<std::size_t>(r.buffer)].name;
    mistake.detail = address >= r.end
                         ? cat(address - r.end, " bytes after the end of ", mistake.tensor)
                         : cat(r.begin - address, " bytes before the start of ", mistake.tensor);
  }
  add_mistake(std::move(mistake));
}

void BlockRecorder::report_outside(bool is_memory, std::uint64_t address, Access access,
                                   Here here) {
  const auto view =
      outside_.view == nullptr ? address : reinterpret_cast<std::uint64_t>(outside_.view);
  Mistake mistake = mistake_at(is_memory ? Kind::outside_view : Kind::out_of_bounds, Memory::global,
                               here, access);
  const int number = is_on_stack(view) ? -1 : nearest_region(view);
  std::uint64_t offset = 0;
  if (number >= 0) {
    offset = std::clamp(view, region(number).begin, region(number).end - 1) - region(number).begin;
    mistake.memory = region(number).memory;
    mistake.object = object_at(number, offset);
  } else if (is_on_stack(view)) {
    mistake.memory = Memory::local;
    mistake.tensor = "registers";
  }
  if (is_repeated(mistake)) return;
  if (number >= 0) locate(mistake, number, offset);
  std::string position, existing;
  for (const index_t i : outside_.position) position += cat(position.empty() ? "(" : ",", i);
  for (const index_t i : outside_.existing) existing += cat(existing.empty() ? "(" : ",", i);
  mistake.detail = cat("element ", position, ") of a view of which ", existing, ") exists");
  mistake.element = outside_.position;
  add_mistake(std::move(mistake));
}

void BlockRecorder::empty_fragment(Here here) {
  if (!rules_ || failed_) return;
  Mistake mistake = mistake_at(Kind::uninitialized_read, Memory::local, here, Access::load);
  mistake.tensor = "fragment";
  add_mistake(std::move(mistake));
}

void BlockRecorder::missing_lane(int source, int lanes, Here here) {
  if (!rules_ || failed_) return;
  Mistake mistake = mistake_at(Kind::out_of_bounds, Memory::local, here, Access::load);
  mistake.tensor = "warp";
  mistake.detail =
      cat("lane ", source, ", and its warp has ", lanes, lanes == 1 ? " lane" : " lanes");
  mistake.advice =
      "a GPU gives any value there: keep the source below t.lanes(), or make the block a multiple "
      "of the warp";
  add_mistake(std::move(mistake));
}

void BlockRecorder::no_value(int source, tessera::detail::NoValue why, Here here) {
  using tessera::detail::NoValue;
  if (!rules_ || failed_) return;
  Mistake mistake = mistake_at(Kind::out_of_bounds, Memory::local, here, Access::load);
  mistake.severity = Severity::warning;
  mistake.tensor = "warp";
  mistake.detail = cat("lane ", source,
                       why == NoValue::not_there     ? ", which its warp does not have"
                       : why == NoValue::not_in_mask ? ", which the mask does not name"
                                                     : ", which has ended");
  mistake.advice =
      "a GPU gives any value there, which does no harm only where the lane throws it away: let all "
      "lanes that are read come, with a neutral value, or skip the sources that do not";
  add_mistake(std::move(mistake));
}

void BlockRecorder::met_without(const std::vector<int>& threads, std::uint64_t ended,
                                const Here& here) {
  if (!rules_ || failed_) return;
  const int warp = warp_of(threads.front()), first = warp * warp_size_;
  const auto is_known = [&](const PassedBy& each) {
    return each.warp == warp && each.ended == ended && is_same_place(each.here, here);
  };
  if (std::any_of(passed_by_.begin(), passed_by_.end(), is_known)) return;
  PassedBy out{here, warp, 0, ended, {}};
  std::vector<const AccessPoint*> known;
  const auto points_of = [&](int thread, std::vector<const AccessPoint*>& points) {
    const EventLog& log = logs_[static_cast<std::size_t>(thread)];
    for (const Event* event = log.begin(); event != log.end(); ++event) {
      if (std::find(points.begin(), points.end(), event->point) == points.end())
        points.push_back(event->point);
    }
  };
  for (const int each : threads) {
    out.met |= std::uint64_t{1} << (each - first);
    points_of(each, known);
  }
  for (std::uint64_t rest = ended; rest != 0; rest &= rest - 1)
    points_of(first + std::countr_zero(rest), out.points);
  std::erase_if(out.points, [&](const AccessPoint* point) {
    return std::find(known.begin(), known.end(), point) != known.end();
  });
  passed_by_.push_back(std::move(out));
}

void BlockRecorder::find_passed_by(const AccessPoint& point, int warp, std::uint64_t active) {
  for (PassedBy& each : passed_by_) {
    if (each.is_told || each.warp != warp || (each.met & active) == 0 ||
        std::find(each.points.begin(), each.points.end(), &point) == each.points.end())
      continue;
    each.is_told = true;
    const int first = warp * warp_size_, waits = first + std::countr_zero(each.met);
    Mistake mistake = mistake_at(Kind::early_return, Memory::none, each.here, waits);
    mistake.severity = Severity::warning;
    mistake.other_thread = first + std::countr_zero(each.ended);
    mistake.other_here = sites_[point.site].here;
    mistake.tensor = "warp";
    mistake.barrier = epoch_;
    add_mistake(std::move(mistake));
  }
}

void BlockRecorder::report_endless(const BlockFault& fault) {
  stopped_ = true;
  // Evidence of an endless loop: most of the time was spent here, and no block took nearly as long.
  const double limit = context_.options.time_limit_s, mine = seconds();
  if (mine < limit / 2 || mine < 10 * context_.longest_block_s.load()) return;
  Mistake mistake = mistake_at(Kind::endless, Memory::none,
                               last_here_[static_cast<std::size_t>(fault.thread)], fault.thread);
  mistake.detail = cat("when the time limit of ", limit, " s was reached");
  mistake.barrier = epoch_;
  if (mistake.superstep.empty()) mistake.superstep = cat(epoch_ - 1);
  add_mistake(std::move(mistake));
}

namespace {
/// Shortens the path to the file's name, wherever it occurs in the text.
void drop_folder(std::string& text, std::string_view path) {
  const std::size_t folder = path.rfind('/') + 1;
  for (std::size_t at = 0; folder > 0 && (at = text.find(path, at)) != text.npos;)
    text.erase(at, folder);
}
}  // namespace

void BlockRecorder::fails(const BlockFault& fault) {
  if (fault.kind == BlockFault::Kind::elsewhere) {
    failed_ = true;
    return settle();
  }
  if (stopped_ || fault.kind == BlockFault::Kind::stopped) report_endless(fault);
  failed_ = true;
  settle();
  if (stopped_) return;
  static constexpr Kind kKinds[] = {
      Kind::diverged_barrier, Kind::missing_barrier, Kind::exception,
      Kind::stack_overflow,   Kind::endless,         Kind::crash,
      Kind::deadlock,         Kind::barrier_misuse,  Kind::stuck,
      Kind::gate_arrivals,    Kind::cluster_exit,    Kind::misaligned};
  // A copy of another block is in flight; where it started is unknown.
  const bool is_reached = fault.kind == BlockFault::Kind::cluster_exit && fault.here.line == 0;
  if (is_reached && rules_ && async_rules_.judge_exit()) return;
  const bool waits =
      fault.kind == BlockFault::Kind::diverged || fault.kind == BlockFault::Kind::missing;
  Mistake mistake =
      mistake_at(kKinds[static_cast<int>(fault.kind)], Memory::none, fault.here, fault.thread);
  if (fault.here.line == 0 && fault.thread >= 0)
    mistake.here = last_here_[static_cast<std::size_t>(fault.thread)];
  mistake.other_here = fault.other_here;
  if (waits) mistake.other_thread = fault.other;
  mistake.repeats = has_met(fault.here) || has_met(fault.other_here);
  mistake.is_exact = fault.here.line > 0;
  mistake.by_copy = is_reached;
  mistake.at_gates = waits && async_rules_.waits_at_gates();
  mistake.detail = fault.text;
  if (context_.launch.is_cuda) {  // as in all other texts
    for (const Here& each : {fault.here, fault.other_here, mistake.here})
      drop_folder(mistake.detail, each.file);
  }
  mistake.advice = fault.advice;
  mistake.barrier = epoch_;
  if (mistake.superstep.empty()) mistake.superstep = cat(epoch_ - 1);
  if (fault.kind == BlockFault::Kind::stuck || fault.kind == BlockFault::Kind::missing ||
      fault.kind == BlockFault::Kind::gate_misused)
    async_rules_.explain(mistake);
  if (fault.text.find("matrix instruction needs") != std::string::npos)
    mistake.kind = Kind::mma_misuse;
  name_missing_memory(mistake, fault.address);
  add_mistake(std::move(mistake));
}

Mistake BlockRecorder::exit_at() const {
  Mistake out =
      mistake_at(Kind::crash, Memory::none, last_here_[static_cast<std::size_t>(thread_)], thread_);
  out.detail = "called exit(), which ends the whole program";
  return out;
}

void BlockRecorder::name_missing_memory(Mistake& mistake, std::uint64_t address) {
  int number = 0;
  const Region* const found = find_region(address, &number);
  if (mistake.kind != Kind::crash || found == nullptr) return;
  mistake.kind = Kind::out_of_bounds;
  mistake.memory = Memory::global;
  mistake.writes = last_access_ != Access::load;
  mistake.advice = kSmallerTensors;
  locate(mistake, number, address - found->begin);
  mistake.detail = "the process has no memory there, or may not write to it";
}

void BlockRecorder::locate(Mistake& mistake, int number, std::uint64_t offset) {
  const Region& r = region(number);
  if (number != kSharedRegion) {
    const auto& b = context_.launch.buffers[static_cast<std::size_t>(r.buffer)];
    mistake.tensor = b.name;
    const auto from_data =
        static_cast<std::int64_t>(r.begin + offset - reinterpret_cast<std::uint64_t>(b.data));
    const auto bytes = static_cast<std::int64_t>(b.element_bytes);
    const std::int64_t element =
        from_data >= 0 ? from_data / bytes : -((-from_data + bytes - 1) / bytes);
    if (!coordinates_of(b.layout, element, mistake.element)) mistake.element.clear();
    return;
  }
  if (async_rules_.is_in_cluster() && (mistake.other_block >= 0 || mistake.block != block_.linear))
    mistake.rank = async_rules_.rank();
  if (const auto* variable = shared_variable_at(offset)) {
    mistake.tensor = variable->name;
    mistake.part = part_text((offset - variable->offset) % variable->element_bytes,
                             static_cast<std::uint64_t>(mistake.bytes), variable->element_bytes);
    auto rest = static_cast<index_t>((offset - variable->offset) / variable->element_bytes);
    mistake.element.assign(variable->extents.size(), 0);
    for (std::size_t i = variable->extents.size(); i-- > 0; rest /= variable->extents[i])
      mistake.element[i] = i == 0 ? rest : rest % variable->extents[i];
    return;
  }
  const TileAt* tile = tile_at(offset);
  if (tile == nullptr) {
    mistake.tensor = "shared storage";
    mistake.byte = static_cast<std::int64_t>(offset);
    return;
  }
  mistake.tensor = name_of(*tile);
  const auto& info = *tile->info;
  std::vector<index_t> at(static_cast<std::size_t>(info.rank));
  if (info.locate(static_cast<index_t>((offset - tile->base) / info.element_bytes), at.data()))
    mistake.element = at;
}

bool BlockRecorder::is_repeated(const Mistake& mistake) {
  for (auto& each : mistakes_) {
    if (each.object != mistake.object || !is_same_mistake(each, mistake) ||
        mistake.severity > each.severity)
      continue;
    each.count += mistake.count;
    return true;
  }
  return false;
}

void BlockRecorder::add_mistake(Mistake mistake) {
  mistake.number = async_rules_.cluster().next_mistake++;
  for (auto& each : mistakes_) {
    if (each.object == mistake.object && is_same_mistake(each, mistake))
      return merge_mistake(each, std::move(mistake));
  }
  mistakes_.push_back(std::move(mistake));
}

}  // namespace tessera::check
