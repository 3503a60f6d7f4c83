#include "app/shell/picture_clipboard.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <xcb/xcb.h>

namespace headscope::app {

namespace {

struct FreeAnswer {
    void operator()(void* answer) const { std::free(answer); } // NOLINT: xcb allocates with malloc
};
template<class T>
using Answer = std::unique_ptr<T, FreeAnswer>;

xcb_atom_t atom(xcb_connection_t* server, std::string_view name) {
    const auto asked = xcb_intern_atom(server, 0, static_cast<std::uint16_t>(name.size()), name.data());
    const Answer<xcb_intern_atom_reply_t> answer(xcb_intern_atom_reply(server, asked, nullptr));
    return answer == nullptr ? xcb_atom_t{XCB_ATOM_NONE} : answer->atom;
}

struct Disconnect {
    void operator()(xcb_connection_t* server) const { xcb_disconnect(server); }
};

constexpr int sent_mark = 0x80; ///< flag in an event's type: sent by another program

} // namespace

/// For one picture: owns the selection CLIPBOARD until another program takes it.
class PictureClipboard::Owner {
public:
    explicit Owner(std::string png) : png_(std::move(png)), server_(xcb_connect(nullptr, nullptr)) {
        if (xcb_connection_has_error(server_.get()) != 0)
            throw Error(
                ErrorKind::machine,
                tr("picture_clipboard.no_x11_desktop_copy",
                   "there is no X11 desktop to copy a picture to; write it to a file instead (Ctrl E)"));
        constexpr std::size_t word = 4, request = 64; // request lengths are counted in words
        const std::size_t most = word * xcb_get_maximum_request_length(server_.get()) - request;
        if (png_.size() > most)
            fail_input(
                tr("picture_clipboard.picture_bytes_desktop",
                   "the picture has {} bytes, and the desktop takes {} at once; write it to a file instead "
                   "(Ctrl E)",
                   png_.size(), most));
        take_selection();
        thread_ = std::thread([this] { answer_all(); });
    }
    ~Owner() {
        if (thread_.joinable()) {
            xcb_client_message_event_t end{};
            end.response_type = XCB_CLIENT_MESSAGE;
            end.format = 8;
            end.window = window_;
            end.type = clipboard_;
            send(end, window_);
            thread_.join();
        }
    }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

private:
    void take_selection() {
        xcb_connection_t* const server = server_.get();
        clipboard_ = atom(server, "CLIPBOARD");
        targets_ = atom(server, "TARGETS");
        kind_ = atom(server, "image/png");
        const xcb_screen_t* const screen = xcb_setup_roots_iterator(xcb_get_setup(server)).data;
        window_ = xcb_generate_id(server);
        xcb_create_window(server, XCB_COPY_FROM_PARENT, window_, screen->root, 0, 0, 1, 1, 0,
                          XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT, 0, nullptr);
        xcb_set_selection_owner(server, window_, clipboard_, XCB_CURRENT_TIME);
        const Answer<xcb_get_selection_owner_reply_t> owner(
            xcb_get_selection_owner_reply(server, xcb_get_selection_owner(server, clipboard_), nullptr));
        if (owner == nullptr || owner->owner != window_)
            throw Error(ErrorKind::machine, tr("picture_clipboard.another_program_keeps",
                                               "another program is using the clipboard; try again"));
    }

    void answer_all() {
        while (const Answer<xcb_generic_event_t> event{xcb_wait_for_event(server_.get())}) {
            const int type = event->response_type & ~sent_mark;
            if (type == XCB_SELECTION_CLEAR || type == XCB_CLIENT_MESSAGE)
                return;
            if (type == XCB_SELECTION_REQUEST)
                answer(*reinterpret_cast<const xcb_selection_request_event_t*>(event.get()));
        }
    }

    template<class Event>
    void send(Event event, xcb_window_t to) {
        std::array<char, 32> bytes{}; // size on the wire, even for shorter events
        static_assert(sizeof event <= bytes.size());
        std::memcpy(bytes.data(), &event, sizeof event);
        xcb_send_event(server_.get(), 0, to, XCB_EVENT_MASK_NO_EVENT, bytes.data());
        xcb_flush(server_.get());
    }

    void answer(const xcb_selection_request_event_t& asked) {
        // An obsolete client specifies no property; the target is used instead.
        const xcb_atom_t property = asked.property == XCB_ATOM_NONE ? asked.target : asked.property;
        bool given = true;
        if (asked.target == targets_) {
            const std::array<xcb_atom_t, 2> offered{targets_, kind_};
            xcb_change_property(server_.get(), XCB_PROP_MODE_REPLACE, asked.requestor, property,
                                XCB_ATOM_ATOM, 32, offered.size(), offered.data());
        } else if (asked.target == kind_) {
            xcb_change_property(server_.get(), XCB_PROP_MODE_REPLACE, asked.requestor, property, kind_, 8,
                                static_cast<std::uint32_t>(png_.size()), png_.data());
        } else {
            given = false;
        }
        xcb_selection_notify_event_t notification{};
        notification.response_type = XCB_SELECTION_NOTIFY;
        notification.time = asked.time;
        notification.requestor = asked.requestor;
        notification.selection = asked.selection;
        notification.target = asked.target;
        notification.property = given ? property : static_cast<xcb_atom_t>(XCB_ATOM_NONE);
        send(notification, asked.requestor);
    }

    const std::string png_;
    std::unique_ptr<xcb_connection_t, Disconnect> server_;
    xcb_window_t window_ = 0;
    xcb_atom_t clipboard_ = 0, targets_ = 0, kind_ = 0;
    std::thread thread_;
};

PictureClipboard::PictureClipboard() = default;
PictureClipboard::~PictureClipboard() = default;

void PictureClipboard::offer(std::string png) {
    owner_ = std::make_unique<Owner>(std::move(png));
}

} // namespace headscope::app
