"""Everything that draws, under one name: `from utils.plots import heatmap, heatmaps, plane, …`."""

from utils.curves import curves
from utils.heatmaps import heatmap, heatmaps
from utils.picture import Picture, table
from utils.planes import arrows, outline, plane, points

__all__ = ["Picture", "arrows", "curves", "heatmap", "heatmaps", "outline", "plane", "points", "table"]
