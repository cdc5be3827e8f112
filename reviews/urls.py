"""REST addresses of the review queue and of research."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
