#pragma once

#include "app/draw/kit/sheet.h"
#include "app/state/model_document.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

// Parts of the Predict tab that an encoder-decoder alone has.

/// The tokens that the encoder reads, then the heading of those that the decoder reads, `target` in number.
void write_source(Sheet& sheet, const std::vector<std::string>& source, std::int64_t target);

/// How the decoder's text came to be, and a button that has the model write it anew.
void write_how_written(Sheet& sheet, const ModelPart& part);

/// The three kinds of attention; a click shows the heads of one.
void write_stacks(Sheet& sheet);

} // namespace headscope::app
