#pragma once

#include "app/commands/actions.h"
#include "app/views/state.h"

#include <string>

namespace headscope::app {

/// Whether an action can be asked for by its name, in a script or from outside: no chooser of files, no
/// question, and no gesture, which no name can make.
bool can_name(const ActionInfo& action);

/// What an action of the table sends on the page that is on screen. Throws Error(input) with why it cannot be
/// done there.
Actions named_action(const AppState& state, const std::string& id);
/// Goes to a stage, by its name on the strip or in `headscope trace`. Throws Error(input) that lists the
/// stages.
Actions go_to_stage(const AppState& state, const std::string& name);
/// Another sentence, or of a checkpoint another prompt.
Actions type_sentence(const AppState& state, const std::string& text);
/// The second of two texts. Throws Error(input) if the document does not take one.
Actions type_pair(const AppState& state, const std::string& text);

} // namespace headscope::app
