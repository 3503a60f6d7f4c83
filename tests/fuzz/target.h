#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// What a fuzz target defines. The driver is libFuzzer, or standalone_main.cpp where there is none.

/// Feeds the bytes to a parser. Only headscope::Error may leave the parser; a broken promise aborts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Mends what a random change breaks nearly always, such as a length field, so that later checks are reached.
void repair(std::string& input);
