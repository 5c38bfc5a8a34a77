"""Frames and findings to Plotly figures; no Streamlit, no SQL."""
