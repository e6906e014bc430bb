// Shapes that narrow types of every kind are multiplied in.
#pragma once

#include "cpu/multiply.hpp"

namespace tessera::testing {

/// What one thread packs at once, and what is a little larger or thinner.
inline constexpr Shape kSmallProducts[] = {
    {17, 49, 7},    {33, 33, 33},   {49, 17, 50},   {50, 50, 50},   {65, 64, 63},   {64, 64, 64},
    {97, 97, 97},   {100, 128, 60}, {128, 64, 127}, {250, 40, 129}, {256, 16, 260}, {257, 17, 31},
    {16, 100, 100}, {70, 130, 150}, {48, 1, 48},    {40, 2, 17},    {200, 1, 199},  {300, 4, 16},
    {100, 8, 61},   {3, 120, 48},   {8, 200, 33},   {5, 97, 260},   {1, 65, 130}};

}  // namespace tessera::testing
