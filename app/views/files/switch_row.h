#pragma once

#include "app/views/dialog.h"
#include "app/views/state.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Switches of the file chooser with their captions, side by side.
class SwitchRow {
public:
    SwitchRow(OpenChooser& open, figure::Point at, const ViewTools& tools)
        : open_(open), at_(at), tools_(tools) {}

    /// `id` names the items. Returns the index of the chosen option, or -1. After a choice the name field
    /// gets the keyboard again.
    int add(const char* id, const std::string& caption, const std::vector<DialogOption>& options);
    /// The position of the next switch.
    figure::Point at() const { return at_; }

private:
    OpenChooser& open_;
    figure::Point at_;
    const ViewTools& tools_;
};

} // namespace headscope::app
