// The readings of each primitive, and the meaning of the words of its dump.
#pragma once

#include <string>
#include <vector>

#include "primitive.hpp"

namespace tessera::primitives {

std::vector<Reading> p1_readings();
std::vector<Reading> p2_readings();
std::string copy_place(std::size_t word);
std::vector<Reading> p3_readings();
std::string p3_place(std::size_t word);
std::vector<Reading> p4_readings();
std::string p4_place(std::size_t word);
std::vector<Reading> p5_readings();
std::string p5_place(std::size_t word);
std::vector<Reading> p6_readings();
std::string p6_place(std::size_t word);
std::vector<Reading> p7_readings();
std::string p7_place(std::size_t word);
std::vector<Reading> p8_readings();
std::string p8_place(std::size_t word);
std::vector<Reading> p9_readings();
std::string p9_place(std::size_t word);
std::vector<Reading> p10_readings();
std::string p10_place(std::size_t word);
std::vector<Reading> p11_readings();
std::string p11_place(std::size_t word);

}  // namespace tessera::primitives
