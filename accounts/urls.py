"""Pages of this app."""

from django.urls import URLPattern, URLResolver, path

from accounts.views import members, notifications, organisation, preferences, profile, tokens

app_name = "accounts"
urlpatterns: list[URLPattern | URLResolver] = [
    path("organisation", organisation.organisation, name="organisation"),
    path("organisation/new", organisation.welcome, name="welcome"),
    path("organisation/switch", preferences.switch, name="switch"),
    path("organisation/audit", organisation.audit, name="audit"),
    path("organisation/projects", organisation.project_list, name="projects"),
    path("organisation/projects/new", organisation.project_create, name="project-create"),
    path("organisation/members", members.member_list, name="members"),
    path("organisation/members/invite", members.invite, name="invite"),
    path("organisation/members/<str:member_id>/role", members.change_role, name="member-role"),
    path("organisation/members/<str:member_id>/remove", members.remove, name="member-remove"),
    path("organisation/invitations/<str:invitation_id>/withdraw", members.withdraw, name="withdraw"),
    path("invitations/<str:secret>", members.invitation, name="invitation"),
    path("invitations/<str:secret>/accept", members.accept, name="invitation-accept"),
    path("tokens", tokens.token_list, name="tokens"),
    path("tokens/new", tokens.issue, name="token-issue"),
    path("tokens/<str:token_id>/revoke", tokens.revoke, name="token-revoke"),
    path("notifications", notifications.notification_list, name="notifications"),
    path("notifications/read", notifications.read_all, name="notifications-read"),
    path("profile", profile.profile, name="profile"),
]
