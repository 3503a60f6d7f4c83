#pragma once

#include "app/commands/command.h"

#include <string>

namespace headscope::app {

/// What a command did that cannot be seen at a glance, in plain words: how the weights were dealt anew, which
/// edits wait because they no longer fit, whose keys and values changed along. Empty: nothing to tell.
std::string notice_of(const Document& before, const Command& command, const Document& after);

} // namespace headscope::app
