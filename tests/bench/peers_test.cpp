#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "bench/peer_library.hpp"
#include "bench/support.hpp"
#include "process/child.hpp"
#include "tessera/core/error.hpp"

namespace tessera::bench {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

/// TESSERA_PEERS for the length of a test.
class PeersVariable {
 public:
  explicit PeersVariable(const std::string& value) { setenv("TESSERA_PEERS", value.c_str(), 1); }
  ~PeersVariable() { unsetenv("TESSERA_PEERS"); }
  PeersVariable(const PeersVariable&) = delete;
  PeersVariable& operator=(const PeersVariable&) = delete;
};

TEST(Peers, ALibraryGivenByPathIsFoundAndDescribed) {
  const PeersVariable variable(WRONG_PEER);
  const auto found = search_peers().found;
  const auto at = std::find_if(found.begin(), found.end(),
                               [](const Peer& peer) { return peer.name == "wrong_peer"; });
  ASSERT_NE(at, found.end());
  EXPECT_EQ(std::filesystem::canonical(WRONG_PEER), at->path);
  EXPECT_EQ(at->interface, PeerInterface::cblas);
  EXPECT_TRUE(at->supports({DType::f32, DType::f32}));
  EXPECT_TRUE(at->supports({DType::f64, DType::f64}));
  EXPECT_FALSE(at->supports({DType::bf16, DType::bf16}));
  EXPECT_FALSE(at->version.empty());
}

TEST(Peers, TheSameFileTwiceIsOnePeer) {
  const PeersVariable variable(std::string(WRONG_PEER) + ":" + WRONG_PEER);
  const auto found = search_peers().found;
  EXPECT_EQ(1, std::count_if(found.begin(), found.end(),
                             [](const Peer& peer) { return peer.name.starts_with("wrong_peer"); }));
}

TEST(Peers, NamesAreUnique) {
  const PeersVariable variable(WRONG_PEER);
  std::vector<std::string> names;
  for (const PeerSearch search = search_peers(); const auto& peer : search.found)
    names.push_back(peer.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Peers, WhatCannotBeUsedIsMissingWithAReason) {
  const PeersVariable variable("/nowhere/libblas.so:libm.so.6::");
  const auto missing = search_peers().missing;
  EXPECT_THAT(missing,
              Contains(::testing::AllOf(Field(&MissingPeer::name, "/nowhere/libblas.so"),
                                        Field(&MissingPeer::reason, HasSubstr("cannot load")))));
  EXPECT_THAT(missing, Contains(::testing::AllOf(
                           Field(&MissingPeer::name, "libm.so.6"),
                           Field(&MissingPeer::reason, HasSubstr("has no matrix product")))));
}

TEST(Peers, EveryKnownLibraryIsFoundOrNamedWithItsPackage) {
  const PeerSearch search = search_peers();
  for (const char* name : {"openblas", "blis", "onednn", "mkl", "reference"}) {
    const bool found = std::any_of(search.found.begin(), search.found.end(),
                                   [&](const Peer& peer) { return peer.name == name; });
    const bool named = std::any_of(
        search.missing.begin(), search.missing.end(),
        [&](const MissingPeer& peer) { return peer.name == name && !peer.package.empty(); });
    EXPECT_NE(found, named) << name;
  }
}

TEST(Peers, ATextFileIsNoPeer) {
  const testing::Scratch scratch;
  std::ofstream(scratch / "libtext.so") << "not a library";
  try {
    peer_at(scratch / "libtext.so", "");
    FAIL() << "loaded a text file";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("libtext.so"));
  }
}

/// Multiplies (2,3) by (3,2) in a child and gives the four elements as text.
std::string product_by(const Peer& peer, DType type) {
  process::Child child([&]() -> process::Child::Answer {
    return [&](const std::string&) {
      const auto multiply = [&](auto zero) {
        using T = decltype(zero);
        const T A[] = {1, 2, 3, 4, 5, 6}, B[] = {1, 0, 0, 1, 2, -1};
        T C[] = {99, 99, 99, 99};
        PeerLibrary(peer, 2).call_for({type, type}, {2, 2, 3})(A, B, C);
        return cat(C[0], " ", C[1], " ", C[2], " ", C[3]);
      };
      return type == DType::f64 ? multiply(0.0) : multiply(0.0f);
    };
  });
  return child.ask("", 60);
}

TEST(Peers, EveryPeerOnThisMachineMultipliesRowMajorMatrices) {
  for (const PeerSearch search = search_peers(); const auto& peer : search.found) {
    for (DType type : {DType::f32, DType::f64}) {
      if (!peer.supports({type, type})) continue;
      EXPECT_EQ(product_by(peer, type), "7 -1 16 -1") << peer.name << " " << to_string(type);
    }
  }
}

/// The elements of the products of a shape, computed in a child. A and B hold 0, 1, 2, ...
std::string products_by(const Peer& peer, const Shape& shape) {
  process::Child child([&]() -> process::Child::Answer {
    return [&](const std::string&) {
      const auto count = [&](index_t rows, index_t cols) {
        return static_cast<std::size_t>(shape.batch * rows * cols);
      };
      std::vector<float> A(count(shape.M, shape.K)), B(count(shape.K, shape.N)),
          C(count(shape.M, shape.N), 99);
      std::iota(A.begin(), A.end(), 0.0f);
      std::iota(B.begin(), B.end(), 0.0f);
      const Call call = PeerLibrary(peer, 2).call_for({}, shape);
      call(A.data(), B.data(), C.data());
      call(A.data(), B.data(), C.data());
      std::string out;
      for (float each : C) out += cat(each, " ");
      return out;
    };
  });
  return child.ask("", 60);
}

TEST(Peers, EveryPeerOnThisMachineMultipliesTransposedMatricesAndBatches) {
  // (2,3) by (3,1): [[0,1,2],[3,4,5]] or, by columns, [[0,2,4],[1,3,5]]; times [0,1,2].
  std::vector<Peer> peers = search_peers().found;
  if (const auto own = own_blas()) peers.push_back(*own);
  for (const auto& peer : peers) {
    if (!peer.supports({}) || peer.name == "xsmm") continue;  // that one transposes nothing
    EXPECT_EQ(products_by(peer, {2, 1, 3, 1, false, false}), "5 14 ") << peer.name;
    EXPECT_EQ(products_by(peer, {2, 1, 3, 1, true, false}), "10 13 ") << peer.name;
    // (1,3) by (3,2): [0,1,2] times [[0,3],[1,4],[2,5]]
    EXPECT_EQ(products_by(peer, {1, 2, 3, 1, false, true}), "5 14 ") << peer.name;
    // Three products: [0], [1], [2] each by (1,2).
    EXPECT_EQ(products_by(peer, {1, 2, 1, 3, true, true}), "0 0 2 3 8 10 ") << peer.name;
  }
}

TEST(Peers, TypesThatAPeerLacksAreErrors) {
  const Peer peer = peer_at(WRONG_PEER, "mine");
  EXPECT_EQ(peer.name, "mine");
  process::Child child([&]() -> process::Child::Answer {
    return [&](const std::string&) -> std::string {
      PeerLibrary(peer, 1).call_for({DType::i32, DType::i32}, {1, 1, 1});
      return {};
    };
  });
  try {
    child.ask("", 60);
    FAIL() << "multiplied i32";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::type);
  }
}

}  // namespace
}  // namespace tessera::bench
