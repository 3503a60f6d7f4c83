#pragma once

#include "app/draw/kit/sheet.h"
#include "app/state/model_document.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

// Parts of the Predict tab that exist only for an encoder-decoder.

/// Writes the tokens of the encoder, then the heading of the decoder's tokens, of which there are `target`.
void write_source(Sheet& sheet, const std::vector<std::string>& source, std::int64_t target);

/// Describes the origin of the decoder's text, with a button that lets the model generate it again.
void write_target_origin(Sheet& sheet, const RunSpec& part);

/// Lists the three attention stacks; a click shows the heads of one.
void write_stacks(Sheet& sheet);

} // namespace headscope::app
