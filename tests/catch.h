#pragma once

// The one place that knows Catch2's version.
#include <catch2/catch.hpp>
