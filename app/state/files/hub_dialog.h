#pragma once

#include "core/hub/download.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::app {

/// Actions of the dialog that opens a model by its name on the Hub.
struct HubAction {
    enum class Kind : std::uint8_t {
        open,     ///< shows the dialog
        edit,     ///< the user typed into the field: what was found for the previous name is discarded
        find,     ///< opens `name` from the cache, or asks the Hub for its files
        download, ///< downloads what was found, and opens it
        close     ///< stops a request or download in progress; without one, closes the dialog
    };
    Kind kind;
    std::string name = {}; ///< for open and find: NAME or NAME@REVISION
};

/// The dialog that opens a model by its name on the Hub.
struct HubDialog {
    enum class Step : std::uint8_t { naming, finding, found, downloading };

    Step step = Step::naming;
    std::string name = {};       ///< as typed
    bool focus_name = true;      ///< requests the keyboard for the field
    std::string error = {};      ///< a sentence: why the last attempt failed
    std::string server = {};     ///< the address of the Hub
    std::string cache = {};      ///< the folder that models are downloaded to
    hub::DownloadPlan plan = {}; ///< from `found` on; `missing` counts what is still missing
    hub::DownloadState received = {};
    double bytes_per_second = 0; ///< 0: not known yet

    bool is_working() const { return step == Step::finding || step == Step::downloading; }
};

} // namespace headscope::app
